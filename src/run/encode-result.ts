import { createHash } from 'node:crypto';

import { yieldToEventLoop, type Task } from '@logquay/duckdb-engine/concurrency';
import type { EngineResult, RunLimits } from '@logquay/duckdb-engine/contract';
import type { NamedType, SqlType } from '@logquay/googlesql/types';
import { redactRows, redactText } from '../redaction/redaction';
import { EncodedResponse } from '../rendering/encoded-response';
import { linesBody } from '../rendering/lines-body';
import { closingOf, linesOf, type Part, render, tooLarge } from '../rendering/render';
import type { Services } from './services';
import type { RequestPlan } from './types';

/** A worker task: redacts and encodes some rows of a long result. */

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

/** UTF-16 units of rows that are encoded on the main thread; redaction takes a hundred times as long. */
const FEW = { plain: 512 * 1024, redacted: 16 * 1024 };
/** Units sent to a worker at a time: copying them takes a millisecond. */
const PART = 512 * 1024;

/**
 * Encodes an engine's result as the caller may see it: with redaction on, masked before anything is rendered or cached.
 *
 * @throws ServiceError resourcesExceeded for too large a result; as Threads.run
 */
export function encodeResult(
  result: Pick<EngineResult, 'columns' | 'rows' | 'lines' | 'truncated'>,
  { redacted, representation }: Pick<RequestPlan, 'redacted' | 'representation'>,
  services: Pick<Services, 'threads' | 'longestResponse' | 'escapeFormulas'>,
  limits: RunLimits,
): Promise<EncodedResponse> | EncodedResponse {
  const columns = result.columns.map(({ name }) => name);
  const { lines, truncated } = result;
  const { escapeFormulas, longestResponse } = services;
  if (lines !== undefined && !redacted && representation !== 'text/csv')
    return linesBody(lines, representation, truncated, longestResponse);
  const { rows } = result;
  const units = rows.reduce((sum, row) => sum + row.length, 0);
  if (units > (redacted ? FEW.redacted : FEW.plain)) return renderMany();
  const visible = { columns, rows: redacted ? redactRows(rows) : rows, truncated };
  return render(visible, representation, longestResponse, escapeFormulas);

  async function renderMany(): Promise<EncodedResponse> {
    const parts: Uint8Array[] = [];
    const hash = createHash('sha256');
    let length = 0;
    const add = (part: Uint8Array): void => {
      parts.push(part);
      hash.update(part);
      length += part.length;
      if (length > longestResponse) throw tooLarge(longestResponse);
    };
    for (const some of inParts(rows)) {
      const first = parts.length === 0;
      add(
        await services.threads.run(
          renderRows,
          { columns, rows: some, representation, escapeFormulas, first, redacted },
          limits,
        ),
      );
    }
    add(Buffer.from(closingOf(representation)));
    return new EncodedResponse(await joined(parts, length), representation, truncated, hash.digest('base64url'));
  }
}

/** The rows in groups of about PART units. */
function* inParts(rows: readonly string[]): Generator<readonly string[]> {
  let start = 0;
  let units = 0;
  for (const [i, row] of rows.entries()) {
    units += row.length;
    if (units < PART) continue;
    yield rows.slice(start, i + 1);
    start = i + 1;
    units = 0;
  }
  if (start < rows.length) yield rows.slice(start);
}

/** Releases each part after copying it: the result is never in memory twice. */
async function joined(parts: Uint8Array[], length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    bytes.set(part, at);
    at += part.length;
    await yieldToEventLoop();
  }
  return bytes;
}

/** Columns with the names that redacted rows have (docs/redaction.md), fields at any depth among them. */
export function redactedNames(columns: readonly NamedType[]): NamedType[] {
  return columns.map(({ name, type }) => ({ name: redactText(name), type: redactedType(type) }));
}

function redactedType(type: SqlType): SqlType {
  switch (type.kind) {
    case 'ARRAY':
      return { ...type, element: redactedType(type.element) };
    case 'STRUCT':
      return {
        ...type,
        fields: type.fields.map(({ name, type: field }) => ({
          name: name === null ? null : redactText(name),
          type: redactedType(field),
        })),
      };
    default:
      return type;
  }
}
