/** Finds where records end. */
export interface Splitter {
  /**
   * @param buffer begins where a record does, or between two
   * @param visit called with the bounds of each complete record
   * @returns bytes that need not be shown again
   */
  split(buffer: Buffer, visit: (start: number, end: number) => void): number;
  /** The same for the end of the content, when nothing will follow. */
  last(buffer: Buffer, visit: (start: number, end: number) => void): number;
}
