/** Rows beyond those of the run: older ones, those around one, and all of them as a file. */
import { instantText } from '@logquay/googlesql/types';
import { signal } from '@preact/signals';

import { ApiError, ask, askStream } from './api';
import { isObject, type JsonObject, member, parseExactly, writeExactly } from './exact-json';
import { countLoaded, counts } from './histogram/counts';
import { placeOf, timeOf } from './log';
import { result } from './result';
import { rowsOf, run } from './run';
import { change, fromClause } from './search';
import { key } from './session';

/** Rows that the page holds at most. */
const MOST_ROWS = 100_000;

/** The run whose older rows are being loaded; 0: none. */
export const loadingOlder = signal(0);

/** What tells a row from others: its id, else all of it. */
export function keyOf(row: JsonObject): string {
  const id = member(row, 'id');
  return typeof id === 'string' && id !== '' ? id : writeExactly(row);
}

/** Those of the rows that are not known yet. Of rows that are equal to the last sign there are as many as came at once. */
export function unknownOf(came: readonly JsonObject[], known: readonly JsonObject[]): JsonObject[] {
  const there = new Map<string, number>();
  for (const row of known) there.set(keyOf(row), (there.get(keyOf(row)) ?? 0) + 1);
  return came.filter((row) => {
    const count = there.get(keyOf(row)) ?? 0;
    if (count > 0) there.set(keyOf(row), count - 1);
    return count === 0;
  });
}

/** Whether there are rows before those that are loaded. */
export function mayLoadOlder(): boolean {
  const known = result.value;
  return known?.truncated === true && known.rangeParameters !== null && known.rows.length < MOST_ROWS;
}

/** Adds the rows before those that are there, by their time. */
export async function loadOlder(): Promise<void> {
  const [known, presented] = [result.peek(), key.peek()];
  const range = known?.rangeParameters ?? null;
  if (known === null || presented === null || range === null || loadingOlder.peek() === known.number) return;
  const times = known.rows.flatMap((row) => timeOf(row) ?? []);
  if (times.length === 0) return;
  const oldest = times.reduce((least, at) => (at < least ? at : least));
  loadingOlder.value = known.number;
  let olderFault = '';
  try {
    // Up to the oldest instant and with it, as not all of its rows need be there.
    const sent = new Map(known.parameters).set(range[1], instantText(oldest + 1n));
    const path = `api/endpoints/query/${encodeURIComponent(known.endpoint.name)}`;
    const { text, headers } = await ask(path, sent, presented, new AbortController().signal);
    const now = result.peek();
    if (now?.number !== known.number) return;
    const near = now.rows.filter((row) => timeOf(row) === oldest);
    const older = unknownOf(rowsOf(text), near);
    const truncated = headers.get('x-result-truncated') === 'true';
    if (older.length === 0 && truncated) olderFault = 'More rows share one instant than the endpoint gives at once.';
    const rows = [...now.rows, ...older];
    result.value = { ...now, rows, truncated: truncated && older.length > 0, olderFault };
    if (counts.peek()?.complete !== true) countLoaded(rows, now.bounds);
  } catch (error) {
    olderFault = error instanceof Error ? error.message : String(error);
    const now = result.peek();
    if (now?.number === known.number) result.value = { ...now, olderFault };
  } finally {
    if (loadingOlder.peek() === known.number) loadingOlder.value = 0;
  }
}

/** Milliseconds before and after a row, of those around it. */
const AROUND = 30_000;
/** Pages that are looked through for a row. */
const MOST_PAGES = 20;

/** Shows the rows around one, whatever was filtered by; it stays open. */
export async function showAround(row: JsonObject): Promise<void> {
  const [micros, written] = [timeOf(row), result.peek()?.written];
  if (micros === null || written === undefined) return;
  const at = Number(micros / 1000n);
  change({
    language: written.language,
    query: written.language === 'lql' ? fromClause(written.text) : written.text,
    range: { kind: 'between', start: at - AROUND, end: at + AROUND },
    row: placeOf(row),
  });
  await run();
  const number = result.peek()?.number;
  // Another run is of other rows.
  const isThere = (): boolean => result.peek()?.rows.some((one) => keyOf(one) === keyOf(row)) === true;
  const isMissing = (): boolean => result.peek()?.number === number && !isThere() && mayLoadOlder();
  for (let page = 0; page < MOST_PAGES && isMissing(); page++) await loadOlder();
}

/**
 * All rows of the search, as an export where the key and the endpoint allow one, else those that are loaded.
 *
 * @param take gets each row
 * @returns how many; `isWhole`: there are no more
 */
export async function allRows(
  take: (rows: readonly JsonObject[]) => void,
): Promise<{ readonly count: number; readonly isWhole: boolean }> {
  const [known, presented] = [result.peek(), key.peek()];
  if (known === null || presented === null) return { count: 0, isWhole: true };
  if (known.truncated) {
    const path = `api/endpoints/query/${encodeURIComponent(known.endpoint.name)}`;
    const sent = new Map(known.parameters).set('export', 'true');
    try {
      let count = 0;
      const body = await askStream(path, sent, presented, new AbortController().signal, 'application/x-ndjson');
      for await (const lines of linesOf(body)) {
        const rows = lines.map((line) => parseExactly(line)).filter(isObject);
        count += rows.length;
        take(rows);
      }
      return { count, isWhole: true };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'accessDenied') throw error;
    }
  }
  take(known.rows);
  return { count: known.rows.length, isWhole: !known.truncated };
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    yield lines.filter((line) => line !== '');
    if (done) return;
  }
}
