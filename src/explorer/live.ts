/** Rows as they are written: the newest are asked for again and again, and put before those that are there. */
import { computed, effect, signal } from '@preact/signals';

import { ApiError, ask, serviceNow } from './api';
import { type Estimate, estimateOf } from './estimate';
import { type JsonObject, member } from './exact-json';
import { countLoaded } from './histogram/counts';
import { microsOf } from './instant';
import { failure, isLog, result, rowsOf, running } from './run';
import { endpoint, parametersOf, rangeParameters, search } from './search';
import { key } from './session';

/** Milliseconds between two requests. */
const PERIOD = 2_000;
/** Rows that are held. */
const MOST_ROWS = 10_000;

export type Live = 'off' | 'on' | { readonly price: Estimate };

/** A price: it begins once that was seen. */
export const live = signal<Live>('off');
/** The pointer is over the rows, or they were scrolled: nothing moves under who reads. */
export const reading = signal(false);

/** Rows of a log, up to now: nothing comes to a stretch that is past. */
export const mayFollow = computed(
  () => isLog.value && rangeParameters.value !== null && search.value.range.kind === 'last',
);

export async function toggleLive(): Promise<void> {
  if (live.value === 'on') live.value = 'off';
  else if (live.value !== 'off' || result.value === null) live.value = 'on';
  else {
    const price = await estimateOf(parametersOf(result.value.bounds)).catch(() => null);
    live.value = price === null ? 'on' : { price };
  }
}

/** What an hour of it costs at most. */
export function hourly({ price, currency }: Estimate): string {
  const runs = 3_600_000 / PERIOD;
  return new Intl.NumberFormat('en', { style: 'currency', currency, maximumSignificantDigits: 2 }).format(price * runs);
}

let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | null = null;

effect(() => {
  const follows = live.value === 'on' && mayFollow.value && !reading.value && !running.value && key.value !== null;
  clearTimeout(timer);
  if (!follows) current?.abort();
  else timer = setTimeout(() => void poll(), PERIOD);
});

async function poll(): Promise<void> {
  const [known, target, presented] = [result.peek(), endpoint.peek(), key.peek()];
  if (known === null || target === null || presented === null) return;
  const controller = new AbortController();
  current = controller;
  const end = serviceNow();
  const parameters = parametersOf({ start: known.bounds.start, end });
  const [start] = rangeParameters.peek() ?? [];
  const newest = microsOf(member(known.rows[0] ?? {}, 'timestamp'));
  if (start !== undefined && newest !== null) parameters.set(start, isoOf(newest));
  try {
    const path = `api/endpoints/query/${encodeURIComponent(target.name)}`;
    const { text } = await ask(path, parameters, presented, controller.signal);
    if (controller.signal.aborted || result.peek() !== known) return;
    const rows = withNew(known.rows, rowsOf(text));
    const bounds = { start: end - (known.bounds.end - known.bounds.start), end };
    // Assigned each time: the next request is a period later.
    result.value = { ...known, rows, bounds };
    if (rows !== known.rows) countLoaded(rows, bounds);
    timer = setTimeout(() => void poll(), PERIOD);
  } catch (error) {
    if (controller.signal.aborted) return;
    live.value = 'off';
    failure.value = error instanceof ApiError ? error : new ApiError(String(error), 0, 'unreadable');
  }
}

/** Rows of one instant may come twice; each has an id. */
function withNew(known: readonly JsonObject[], came: readonly JsonObject[]): readonly JsonObject[] {
  const ids = new Set(known.slice(0, 1000).map((row) => member(row, 'id')));
  const fresh = came.filter((row) => !ids.has(member(row, 'id')));
  return fresh.length === 0 ? known : [...fresh, ...known].slice(0, MOST_ROWS);
}

function isoOf(micros: bigint): string {
  const text = new Date(Number(micros / 1000n)).toISOString();
  return `${text.slice(0, -1)}${String(micros % 1000n).padStart(3, '0')}Z`;
}
