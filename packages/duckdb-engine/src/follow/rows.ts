/** Raw records as rows of a table. */
import { createHash } from 'node:crypto';

import type { RestField } from '@logquay/googlesql/types';
import { printLine } from '../data/json-line';
import { hasRest, REST_FIELD, restOf, withoutRest } from '../data/rest';
import { fittedRow, type Fitting, type JsonObject, parsedRow, Unfit } from '../data/strict-row';
import type { RawRecord } from './records';

/** A row that DuckDB's reader takes exactly. */
export interface ReadRow {
  readonly json: string;
  /** Of a row without an id: what its id is made of. */
  readonly digest: string | null;
  /** Its `timestamp` as text, which sorts by time; null: the table's rows need none. */
  readonly time: string | null;
  /** Values in its lists (`MOST_ROW_VALUES`). */
  readonly values: number;
}

const DIGEST = 32;
/** SQL: the digest in a generated id, and its ordinal. */
export const DIGEST_OF_ID = `substr(id, 1, ${DIGEST})`;
export const ORDINAL_OF_ID = `coalesce(TRY_CAST(substr(id, ${DIGEST + 2}) AS BIGINT), 0)`;

/** What the rows of a table need to have. */
export interface RowRules {
  /** A row without `timestamp` is left out. */
  readonly timed: boolean;
  /** A row without `id` is given one. */
  readonly identified: boolean;
  /** What rows have beside the columns is kept. */
  readonly rest: boolean;
}

const TIMES = new Set<RestField['type']>(['TIMESTAMP', 'DATETIME', 'DATE']);

/** @param strict whether the table takes nothing but what is declared */
export function rulesOf(fields: readonly RestField[], strict: boolean): RowRules {
  const timestamp = fields.find(({ name, mode }) => name === 'timestamp' && mode !== 'REPEATED');
  const id = fields.find(({ name }) => name === 'id');
  return {
    timed: strict && timestamp !== undefined && TIMES.has(timestamp.type),
    identified: id?.type === 'STRING' && id.mode !== 'REPEATED',
    rest: !strict && hasRest(fields),
  };
}

/**
 * @param text of the record
 * @throws Unfit where it is no row
 */
export function rowOf(
  text: string,
  row: JsonObject,
  fields: readonly RestField[],
  rules: RowRules,
  fitting: Fitting,
): ReadRow {
  const given = rules.identified && (row['id'] === undefined || row['id'] === null) ? { ...row, id: '' } : row;
  const fitted = fittedRow(fields, given, fitting);
  if (rules.rest) {
    const { rest, dropped } = restOf(fields, row);
    if (rest !== undefined) fitted[REST_FIELD.name] = rest;
    fitting.nulled += dropped;
  }
  if (rules.timed && (fitted['timestamp'] === undefined || fitted['timestamp'] === null)) {
    throw new Unfit('timestamp is missing', 'no_timestamp');
  }
  const time = rules.timed ? String(fitted['timestamp']) : null;
  if (!rules.identified || fitted['id'] !== '') {
    return { json: printLine(fitted), digest: null, time, values: fitting.values };
  }
  delete fitted['id'];
  const digest = createHash('sha256').update(text.trim()).digest('hex').slice(0, DIGEST);
  return { json: printLine(fitted), digest, time, values: fitting.values };
}

/**
 * The row that a record holds; null: an empty line.
 *
 * @param strict as of `rulesOf`
 * @throws Unfit where it holds none
 */
export function recordRow({ text, fault }: Pick<RawRecord, 'text' | 'fault'>, strict: boolean): JsonObject | null {
  if (fault !== null) throw fault;
  if (text.trim() === '') return null;
  return strict ? parsedRow(text) : withoutRest(parsedRow(text));
}

/**
 * The texts of rows, those without an id with one that no equal row has.
 *
 * @param next the ordinal that the next row of each digest has: 0 if there is none
 */
export function identified(rows: readonly ReadRow[], next: Map<string, number>): string[] {
  return rows.map(({ json, digest }) => {
    if (digest === null) return json;
    const ordinal = next.get(digest) ?? 0;
    next.set(digest, ordinal + 1);
    const start = json === '{}' ? '{' : `${json.slice(0, -1)},`;
    return `${start}"id":"${ordinal === 0 ? digest : `${digest}-${ordinal}`}"}`;
  });
}
