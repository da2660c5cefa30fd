const NEWLINE = 10;

/** How long the lines of a text are. */
export class LongestLine {
  bytes = 0;

  see(bytes: number): void {
    this.bytes = Math.max(this.bytes, bytes);
  }

  /** @param lines whole ones. @returns how many */
  countIn(lines: Buffer): number {
    let count = 0;
    let start = 0;
    for (let at = lines.indexOf(NEWLINE); at !== -1; at = lines.indexOf(NEWLINE, start)) {
      this.see(at - start);
      start = at + 1;
      count++;
    }
    return count;
  }
}
