import type { Splitter } from './splitter';

const NEWLINE = 10;

export class LineSplitter implements Splitter {
  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = 0;
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
      visit(start, end);
      start = end + 1;
    }
    return start;
  }

  last(buffer: Buffer, visit: (start: number, end: number) => void): number {
    const start = this.split(buffer, visit);
    if (start < buffer.length) visit(start, buffer.length);
    return buffer.length;
  }
}
