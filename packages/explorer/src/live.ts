/** Newer rows, put before those that are there: a live tail of the endpoint, or its newest rows again at an interval. */
import { instantText } from '@logquay/googlesql/types';
import { computed, effect, signal } from '@preact/signals';
import { ApiError, ask, askStream, type Sent, serviceNow } from './api';
import { type Estimate, estimateOf, moneyText } from './estimate';
import { isObject, type JsonObject, parseExactly } from './exact-json';
import { countMore } from './histogram/counts';
import { isLog, timeOf } from './log';
import { unknownOf } from './more-rows';
import { failure, type Result, result } from './result';
import { rowsOf, run, running } from './run';
import { endpoint, search } from './search';
import { key } from './session';

/** Events of a `text/event-stream` as they come. */
export interface ServerEvent {
  /** Empty: it has none. */
  readonly id: string;
  /** Empty: it has none. */
  readonly name: string;
  /** Empty: it has none. */
  readonly data: string;
}

/** The complete events of each part that comes. Ends with the stream. @throws what reading it throws */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly ServerEvent[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      if (blocks.length > 0) yield blocks.map(eventOf);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerEvent {
  const valueOf = (field: string): string =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${field}: `))
      ?.slice(field.length + 2) ?? '';
  return { id: valueOf('id'), name: valueOf('event'), data: valueOf('data') };
}

/** Milliseconds between two tries of a live tail. */
const PERIOD = 2_000;
/** Milliseconds between two refreshes, of which a user chooses. */
export const INTERVALS = [10_000, 30_000, 60_000, 300_000] as const;
/** Rows that are held. */
const MOST_ROWS = 10_000;
/** Rows of the top that may come again. */
const NEAR = 1000;

/** `asked`: how often the rows are refreshed is to be chosen, by what that costs. */
export type Live = 'off' | 'on' | { readonly asked: Estimate | null };

export const live = signal<Live>('off');
/** Milliseconds. */
export const interval = signal<number>(INTERVALS[0]);
/** The pointer is over the rows, or they were scrolled: nothing moves under who reads. */
export const reading = signal(false);

/** Up to now: nothing comes to a stretch that is past. */
export const mayFollow = computed(
  () => result.value !== null && result.value.rangeParameters !== null && result.value.search.range.kind === 'last',
);

/** Whether rows come by themselves; others are asked for at an interval. */
export const isTail = computed(() => result.value?.endpoint.tail === true && isLog.value);

export async function toggleLive(): Promise<void> {
  if (live.value !== 'off') live.value = 'off';
  else if (isTail.value || result.value === null) live.value = 'on';
  else {
    const { number, parameters } = result.value;
    const asked = await estimateOf(parameters).catch(() => null);
    if (live.peek() === 'off' && result.peek()?.number === number) live.value = { asked };
  }
}

/** What an hour of refreshes costs at most. @param every milliseconds */
export function hourly({ price, currency }: Estimate, every: number): string {
  return moneyText((price * 3_600_000) / every, currency);
}

// What is followed, and at which price, is said of one endpoint with one key.
endpoint.subscribe(() => (live.value = 'off'));

let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | null = null;
/** The run that cannot be followed as a live tail. */
let refreshed = 0;
/** Where the live tail of a run goes on. */
let place = { number: 0, id: '', parameters: new Map() as Sent };

effect(() => {
  const follows = live.value === 'on' && mayFollow.value && !reading.value && !running.value && key.value !== null;
  clearTimeout(timer);
  // With another token, too: it is another request.
  current?.abort();
  if (follows) timer = setTimeout(update, isLog.value ? PERIOD : interval.value);
});

/** What a run is of. */
const SENT = ['query', 'language', 'table', 'values', 'range'] as const;

function update(): void {
  if (!isLog.peek()) {
    // Groups are counted anew: that run is followed by the next. What is being written is not run.
    const [now, before] = [search.peek(), result.peek()?.search];
    if (SENT.every((part) => now[part] === before?.[part])) void run();
    else timer = setTimeout(update, interval.peek());
    return;
  }
  const follows = isTail.peek() && result.peek()?.number !== refreshed;
  void (follows ? listen() : refresh());
}

/** Shows rows of a live tail until it ends, and then begins again behind what came. */
async function listen(): Promise<void> {
  const [known, presented] = [result.peek(), key.peek()];
  if (known === null || presented === null) return;
  const controller = new AbortController();
  current = controller;
  const { number } = known;
  if (place.number !== number || place.id === '') place = { number, id: '', parameters: tailParameters(known) };
  const at = place;
  // Rows up to the first place were there before, and some of them are shown. Those behind it come once, equal ones too.
  let before: JsonObject[] | null = at.id === '' ? [] : null;
  try {
    const path = `api/endpoints/tail/${encodeURIComponent(known.endpoint.name)}`;
    const body = await askStream(path, at.parameters, presented, controller.signal, 'text/event-stream', at.id);
    for await (const events of eventsOf(body)) {
      if (controller.signal.aborted || result.peek()?.number !== number) {
        controller.abort();
        return;
      }
      const end = before === null ? 0 : events.findIndex(({ id }) => id !== '') + 1;
      before?.push(...events.slice(0, end === 0 ? events.length : end).flatMap(rowOf));
      if (before === null || end > 0) {
        const fresh = unknownOf(before ?? [], known.rows.slice(0, NEAR));
        show([...fresh, ...events.slice(end).flatMap(rowOf)].reverse());
        before = null;
      }
      at.id = events.findLast(({ id }) => id !== '')?.id ?? at.id;
      if (events.some(({ name }) => name === 'end')) break;
    }
    if (!controller.signal.aborted) timer = setTimeout(update, PERIOD);
  } catch (error) {
    if (controller.signal.aborted) return;
    // What no live tail can be is asked for again and again; a place is not good for ever.
    if (error instanceof ApiError && error.status >= 400) {
      if (at.id === '') refreshed = number;
      at.id = '';
    }
    timer = setTimeout(update, PERIOD);
  }
}

/** From the newest row on. */
function tailParameters({ rows, parameters: sent, rangeParameters }: Result): Sent {
  const parameters = new Map(sent);
  const [start, end] = rangeParameters ?? [];
  const newest = newestOf(rows);
  if (start !== undefined && newest !== null) parameters.set(start, instantText(newest));
  if (end !== undefined) parameters.delete(end);
  return parameters.set('history', 'true');
}

/** The instant of the first row that has one. */
function newestOf(rows: readonly JsonObject[]): bigint | null {
  for (const row of rows) {
    const at = timeOf(row);
    if (at !== null) return at;
  }
  return null;
}

function rowOf({ name, data }: ServerEvent): readonly JsonObject[] {
  const row = name === '' && data !== '' ? parseExactly(data) : null;
  return isObject(row) ? [row] : [];
}

/** Puts rows before those that are there, the newest first, up to now. */
function show(fresh: readonly JsonObject[]): void {
  const known = result.peek();
  if (known === null) return;
  const end = serviceNow();
  const rows = fresh.length === 0 ? known.rows : [...fresh, ...known.rows].slice(0, MOST_ROWS);
  const bounds = { start: end - (known.bounds.end - known.bounds.start), end };
  result.value = { ...known, rows, bounds };
  if (fresh.length > 0) countMore(fresh, bounds);
}

async function refresh(): Promise<void> {
  const [known, presented] = [result.peek(), key.peek()];
  if (known === null || presented === null) return;
  const controller = new AbortController();
  current = controller;
  const end = serviceNow();
  const parameters = new Map(known.parameters);
  const [start, last] = known.rangeParameters ?? [];
  if (last !== undefined) parameters.set(last, new Date(end).toISOString());
  const newest = newestOf(known.rows);
  if (start !== undefined && newest !== null) parameters.set(start, instantText(newest));
  try {
    const path = `api/endpoints/query/${encodeURIComponent(known.endpoint.name)}`;
    const { text } = await ask(path, parameters, presented, controller.signal);
    // Older rows may have come meanwhile.
    const now = result.peek();
    if (controller.signal.aborted || now?.number !== known.number) return;
    show(unknownOf(rowsOf(text), now.rows.slice(0, NEAR)));
    timer = setTimeout(update, interval.peek());
  } catch (error) {
    if (controller.signal.aborted) return;
    live.value = 'off';
    failure.value = error instanceof ApiError ? error : new ApiError(String(error), 0, 'unreadable');
  }
}
