/** Finds where records end. */
export interface Splitter {
  /** Whether what follows the last complete record is one, too, where the content ends. */
  readonly takesRest: boolean;
  /**
   * @param buffer begins where a record does, or between two
   * @param visit called with the bounds of each complete record
   * @returns bytes that need not be shown again
   */
  split(buffer: Buffer, visit: (start: number, end: number) => void): number;
}
