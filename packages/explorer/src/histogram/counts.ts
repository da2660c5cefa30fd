/** How many rows there are in each bucket of the range, by severity. */
import { signal } from '@preact/signals';

import { read } from '../analyser/analyser';
import { consumerText } from '../analysis';
import { type ApiError, ask, type EndpointDescription, type Sent } from '../api';
import { isObject, type JsonObject, parseExactly } from '../exact-json';
import type { Bounds } from '../time-range';
import { mayQuery, schemaLoaded } from '../schema';
import { endpoint, parametersOf, search, writtenNow } from '../search';
import { timeExpression } from '@logquay/googlesql/types';
import { roles, timeOf } from '../log';
import { fieldExpression, type Severity, severityOf, severityExpression } from '../severity';
import { type Buckets, bucketsOf } from './buckets';

export type Bar = Readonly<Partial<Record<Severity | 'other', number>>>;

export interface Counts extends Buckets {
  readonly bounds: Bounds;
  readonly bars: ReadonlyMap<number, Bar>;
  readonly total: number;
  /** Whether the engine counted all rows of the range; else it is those that were loaded. */
  readonly complete: boolean;
  /** By BigQuery for counting. */
  readonly bytesBilled: bigint;
}

/** null: the rows have no time. */
export const counts = signal<Counts | null>(null);
export const counting = signal(false);

const MOST_BUCKETS = 120;

/** The query that counts the rows over a range. null: the rows of the written one cannot be counted */
export async function countingOf(
  bounds: Bounds,
): Promise<{ readonly target: EndpointDescription; readonly sent: Sent; readonly buckets: Buckets } | null> {
  // What is written while the schema is waited for is another query.
  const [target, sent, written] = [endpoint.peek(), parametersOf(bounds), writtenNow()];
  await schemaLoaded();
  const given = mayQuery.peek() && target !== null ? consumerText(written) : null;
  if (given === null || target === null || given.text.trim() === '') return null;
  const source = await read('rows', given);
  if (source === null) return null;
  const most = Math.min(MOST_BUCKETS, Math.floor(target.maxRows / 5));
  const buckets = bucketsOf(bounds, search.peek().zone, most);
  const { time, severity: role } = source.roles;
  const field = time === null ? null : fieldExpression(source.columns, 'q', time.path);
  if (time === null || field === null) return null;
  const instant = timeExpression(field.sql, time);
  const severity = severityExpression(source.columns, role, 'q') ?? 'CAST(NULL AS STRING)';
  const sql = `SELECT DIV(UNIX_MILLIS(${field.type.kind === 'DATETIME' ? `TIMESTAMP(${instant})` : instant}) - ${Math.floor(buckets.start)}, ${buckets.step}) AS bucket, ${severity} AS severity, COUNT(*) AS n FROM (${source.sql}\n) AS q GROUP BY bucket, severity`;
  sent.delete('lql');
  sent.set('sql', sql);
  return { target, sent, buckets };
}

/**
 * Asks the engine for the counts of a range: one query. The caller shows them with the rows, never without.
 *
 * @returns null: the query's rows cannot be counted
 */
export async function countRange(bounds: Bounds, key: string, signal: AbortSignal): Promise<Counts | null> {
  counting.value = true;
  try {
    const question = await countingOf(bounds);
    if (question === null || signal.aborted) return null;
    const path = `api/endpoints/query/${encodeURIComponent(question.target.name)}`;
    const { text, headers } = await ask(path, question.sent, key, signal);
    const bytesBilled = BigInt(headers.get('x-query-bytes-billed') ?? 0);
    return { ...tally(rowsOf(text), question.buckets), bounds, complete: true, bytesBilled };
  } catch (error) {
    // What is wrong with the query is said of its rows.
    if (signal.aborted || (error as ApiError).name === 'ApiError') return null;
    throw error;
  } finally {
    if (!signal.aborted) counting.value = false;
  }
}

function rowsOf(text: string): readonly JsonObject[] {
  const body = parseExactly(text);
  const rows = isObject(body) ? body.result : [];
  return Array.isArray(rows) ? rows.filter(isObject) : [];
}

function tally(rows: readonly JsonObject[], buckets: Buckets): Pick<Counts, keyof Buckets | 'bars' | 'total'> {
  const bars = new Map<number, Record<string, number>>();
  let total = 0;
  for (const { bucket, severity, n } of rows) {
    const [index, rowCount] = [Number(bucket), Number(n)];
    if (index < 0 || index >= buckets.count) continue;
    const bar = bars.get(index) ?? {};
    bar[typeof severity === 'string' ? severity : 'other'] = rowCount;
    bars.set(index, bar);
    total += rowCount;
  }
  return { ...buckets, bars, total };
}

/** Counts the rows that were loaded, where the engine cannot be asked. */
export function countLoaded(rows: readonly JsonObject[], bounds: Bounds): void {
  const buckets = { ...bucketsOf(bounds, search.peek().zone, MOST_BUCKETS), bars: new Map<number, Bar>(), total: 0 };
  const counted = countInto({ ...buckets, bounds, complete: false, bytesBilled: 0n }, rows);
  counts.value = rows.length > 0 && counted.total === 0 ? null : counted;
}

/** Adds rows that came since: the bars move on with the range. */
export function countMore(rows: readonly JsonObject[], bounds: Bounds): void {
  const known = counts.peek();
  if (known === null) return countLoaded(rows, bounds);
  const { start, step, bars } = known;
  const gone = Math.max(0, Math.floor((bounds.start - start) / step));
  const left = [...bars].flatMap(([index, bar]): [number, Bar][] => (index < gone ? [] : [[index - gone, bar]]));
  const total = left.reduce((sum, [, bar]) => sum + Object.values(bar).reduce((all, n) => all + n, 0), 0);
  const first = start + gone * step;
  const count = Math.max(1, Math.ceil((bounds.end - first) / step));
  counts.value = countInto({ ...known, start: first, count, bounds, bars: new Map(left), total }, rows);
}

function countInto(known: Counts, rows: readonly JsonObject[]): Counts {
  const { start, step, count } = known;
  const bars = new Map(known.bars);
  const { time, severity: role } = roles.peek();
  let { total } = known;
  for (const row of rows) {
    const micros = timeOf(row, time);
    const index = micros === null ? -1 : Math.floor((Number(micros) / 1000 - start) / step);
    if (index < 0 || index >= count) continue;
    const severity = severityOf(row, role) ?? 'other';
    const bar = bars.get(index);
    bars.set(index, { ...bar, [severity]: (bar?.[severity] ?? 0) + 1 });
    total++;
  }
  return { ...known, bars, total };
}
