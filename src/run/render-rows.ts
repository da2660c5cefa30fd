/** A worker task: redacts and encodes some rows of a long result. */
import type { Task } from '../concurrency/threads';
import { redactRows } from '../redaction';
import { linesOf, type Part } from '../rendering/render';

export interface RedactablePart extends Part {
  readonly redacted: boolean;
}

export const renderRows: Task<RedactablePart, Uint8Array> = {
  file: __filename,
  name: 'renderRows',
  run(part) {
    const rows = part.redacted ? redactRows(part.rows) : part.rows;
    return Buffer.from(linesOf({ ...part, rows }).join(''));
  },
};
