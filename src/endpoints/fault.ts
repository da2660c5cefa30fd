import type { LineFault } from './settings';

/** What is wrong with one file of the catalogue, and where. */
export interface Fault extends LineFault {
  /** As the reader would open it: the directory as given, then the file's name. */
  readonly file: string;
}

/** `file:line:column: reason`, the form that editors and CI logs make clickable, and what may have been meant. */
export function describeFault({ file, line, column, reason, hint }: Fault): string {
  const end = /[.?!]$/.test(reason) ? '' : '.';
  const more = hint === undefined ? '' : `${end} ${hint}`;
  return `${file}:${String(line)}:${String(column)}: ${reason}${more}`;
}

/** The catalogue cannot be served: every fault of every file, not only the first. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(readonly faults: readonly Fault[]) {
    super(`The catalogue has faults:\n${faults.map(describeFault).join('\n')}`);
  }
}
