/** A worker task: redacts and encodes some rows of a long result. */
import type { Task } from '../concurrency/threads/threads';
import { redactRows } from '../redaction/redaction';
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

/** The same of rows that are lines of JSON. */
export const renderLines: Task<Omit<RedactablePart, 'rows'> & { readonly lines: Uint8Array }, Uint8Array> = {
  file: __filename,
  name: 'renderLines',
  run({ lines, ...part }) {
    const rows = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString().split('\n').slice(0, -1);
    return renderRows.run({ ...part, rows });
  },
};
