/** The run of what is searched for: one at a time, a new one cancels the one before. */
import { computed, effect, signal } from '@preact/signals';

import { rolesOf } from '@logquay/googlesql/types';
import { read } from './analyser/analyser';
import { consumerText } from './analysis';
import { ApiError, ask, serviceNow } from './api';
import { CENT, type Estimate, estimate, estimateAgain, estimateRun } from './estimate';
import { withClause } from './clause';
import { isObject, type JsonObject, parseExactly } from './exact-json';
import { counting, countLoaded, countRange, counts } from './histogram/counts';
import { typesOfRows } from './field-values';
import { isLog } from './log';
import { failure, type Result, result } from './result';
import {
  change,
  endpoint,
  firstQuery,
  forgetDrafts,
  ownParameters,
  parametersOf,
  query,
  rangeParameters,
  search,
  valueOf,
  type Written,
  writtenNow,
} from './search';
import { mayQuery, schema, schemaLoaded } from './schema';
import { connect, key, keyFault, remembered } from './session';
import { boundsOf } from './time-range';

export const running = signal(false);
export const cancelled = signal(false);
/** Whether what the address holds waits to be run by hand, as it costs more than the page spends by being opened. */
export const held = signal(false);

let current: AbortController | null = null;
/** How many runs have begun, or wait to. */
export const runs = signal(0);

/** Runs it; earlier rows stay until the new ones, or a fault, are there. */
export async function run(): Promise<void> {
  current?.abort();
  const presented = key.value;
  const target = endpoint.value;
  if (presented === null || target === null) {
    running.value = false;
    return;
  }
  const controller = new AbortController();
  current = controller;
  cancelled.value = false;
  held.value = false;
  const number = ++runs.value;
  const missing = ownParameters.value.filter((one) => one.required && one.fixed !== true && valueOf(one) === '');
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    fail(new ApiError(`A value is needed for ${names}.`, 400, 'missingParameter'));
    running.value = false;
    return;
  }
  running.value = true;
  const began = performance.now();
  const bounds = boundsOf(search.value.range, serviceNow());
  const [parameters, written, range] = [parametersOf(bounds), writtenNow(), rangeParameters.peek()];
  const searched = search.peek();
  try {
    // What cannot be counted by the engine is counted from the rows, once they are there.
    const counted = countRange(bounds, presented, controller.signal);
    const path = `api/endpoints/query/${encodeURIComponent(target.name)}`;
    const { text, headers } = await ask(path, parameters, presented, controller.signal);
    const rows = rowsOf(text);
    const meaning = await meaningOf(written, rows);
    if (controller.signal.aborted) return;
    failure.value = null;
    result.value = {
      rows,
      bounds,
      truncated: headers.get('x-result-truncated') === 'true',
      milliseconds: performance.now() - began,
      // A result that has just been stored has an age too.
      age: /; hit\b/.test(headers.get('cache-status') ?? '') ? Number(headers.get('age')) : null,
      bytesBilled: headers.get('x-query-bytes-billed'),
      endpoint: target,
      parameters,
      search: searched,
      written,
      rangeParameters: range,
      olderFault: '',
      ...meaning,
      warnings: decoded(headers.get('x-query-warnings') ?? ''),
      number,
    };
    const ofRange = await counted;
    // Cancelled or not: rows are not left beside the bars of another run.
    if (result.peek()?.number !== number) return;
    if (ofRange === null) countLoaded(rows, bounds);
    else counts.value = ofRange;
    if (!controller.signal.aborted && estimate.peek() !== null) estimateAgain();
  } catch (error) {
    if (controller.signal.aborted) return;
    const known = error instanceof ApiError ? error : new ApiError(String(error), 0, 'unreadable');
    if (known.reason === 'unauthenticated') keyFault.value = known.message;
    fail(known);
  } finally {
    if (current === controller) running.value = false;
  }
}

/** What was there before is no answer to what failed. */
function fail(error: ApiError): void {
  failure.value = error;
  result.value = null;
  counts.value = null;
}

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    // It is cut where it is too long.
    return header;
  }
}

// Rows that one key may read are not left for who comes with another.
effect(() => {
  if (key.value !== null) return;
  current?.abort();
  forgetDrafts();
  running.value = false;
});

// Nor are those of one endpoint left beside the name of another. Without a key there is no endpoint.
endpoint.subscribe(() => {
  result.value = null;
  counts.value = null;
  failure.value = null;
});

/** Closes the request; the service then stops the engine. */
export function cancel(): void {
  if (!running.value) return;
  current?.abort();
  running.value = false;
  counting.value = false;
  // The rows are there where only the bars were still to come.
  cancelled.value = result.peek()?.number !== runs.peek();
}

/** Opens with the key that the tab or the browser has, if any, and runs. */
export async function start(): Promise<void> {
  if (key.value === null) return;
  await connect(key.value, remembered.value);
  if (keyFault.value === null) await runFirst();
}

/** Runs what the address holds; where it has no query, that which the endpoint begins with. What has a price waits to be run by hand. */
export async function runFirst(): Promise<void> {
  current?.abort();
  const controller = new AbortController();
  current = controller;
  cancelled.value = false;
  held.value = false;
  running.value = true;
  // Which table the endpoint's own rows are of is told by its schema.
  await schemaLoaded();
  if (current !== controller || controller.signal.aborted) return;
  if (search.value.query === '') change({ language: 'lql', query: firstQuery(), row: search.value.row });
  let price: Estimate | null = null;
  try {
    price = await estimateRun();
  } catch {
    // What is wrong with the search, its run says.
  }
  if (current !== controller || controller.signal.aborted) return;
  if (price === null || price.price < CENT) return run();
  estimate.value = price;
  running.value = false;
  held.value = true;
  runs.value++;
}

/** What the rows are, from the analysis: a number of sixteen digits need not be a time. */
async function meaningOf(
  written: Written,
  rows: readonly JsonObject[],
): Promise<Pick<Result, 'columns' | 'types' | 'roles' | 'ofQuery' | 'isGrouped'>> {
  await schemaLoaded();
  const given = written.text.trim() === '' ? null : consumerText(written);
  const analysed = given === null ? schema.value : await read('analyse', given);
  const known = analysed?.columns ?? null;
  const types = known ?? typesOfRows(rows);
  const roles = (known === null ? null : analysed?.roles) ?? rolesOf(types);
  const isGrouped = given !== null && known !== null && (await read('rows', given)) === null;
  return { columns: types.map(({ name }) => name), types, roles, ofQuery: given !== null, isGrouped };
}

export function rowsOf(text: string): JsonObject[] {
  const body = parseExactly(text);
  const rows = isObject(body) ? body.result : null;
  if (!Array.isArray(rows)) throw new SyntaxError('The answer holds no rows.');
  return rows.filter(isObject);
}

/** Rows of a log table as it is: those of another query have names that its tables do not know. */
export const canFilter = computed(
  () => search.value.language === 'lql' && result.value?.written.language === 'lql' && mayQuery.value && isLog.value,
);

/** Adds a clause to the query and runs it. @param exclude leaves the rows of the clause out */
export function filterBy(clause: string, exclude: boolean): void {
  change({ query: withClause(query.value, clause, exclude) });
  void run();
}
