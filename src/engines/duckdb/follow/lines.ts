import type { Splitter } from './splitter';

const NEWLINE = 10;

export class LineSplitter implements Splitter {
  readonly takesRest = true;

  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = pastHole(buffer, 0);
    for (let end = buffer.indexOf(NEWLINE, start); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
      visit(start, end);
      start = pastHole(buffer, end + 1);
    }
    return start;
  }
}

/** Truncating a file under a writer that does not append leaves zeros where the text was. */
function pastHole(buffer: Buffer, start: number): number {
  let at = start;
  while (buffer[at] === 0) at++;
  return at;
}
