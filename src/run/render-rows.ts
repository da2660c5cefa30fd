/** Some rows of a result as the caller may see them, as a task: those of a long result are rendered on a thread. */
import type { Task } from '../concurrency/threads';
import { redactRows } from '../redaction';
import { linesOf, type Part } from '../rendering/render';

export interface ShownPart extends Part {
  readonly redacted: boolean;
}

export const renderRows: Task<ShownPart, Uint8Array> = {
  file: __filename,
  name: 'renderRows',
  run(part) {
    const rows = part.redacted ? redactRows(part.rows) : part.rows;
    return Buffer.from(linesOf({ ...part, rows }).join(''));
  },
};
