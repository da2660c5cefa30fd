/** What is wrong with one file of the catalogue, and where. */
export interface Fault {
  /** As the reader would open it: the directory as given, then the file's name. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** `file:line: reason`, the form that editors and CI logs make clickable. */
export function describeFault(fault: Fault): string {
  return `${fault.file}:${String(fault.line)}: ${fault.reason}`;
}

/** The catalogue cannot be served: every fault of every file, not only the first. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(readonly faults: readonly Fault[]) {
    super(`The catalogue has faults:\n${faults.map(describeFault).join('\n')}`);
  }
}
