/** What a query would cost on BigQuery, before it runs. */
import { effect, signal } from '@preact/signals';

import { analysis } from './analysis';
import { ApiError, ask, type Sent, serviceNow } from './api';
import { countingOf } from './histogram/counts';
import { endpoint, parametersOf, search } from './search';
import { key } from './session';
import { boundsOf } from './time-range';

export interface Estimate {
  readonly bytes: string;
  readonly price: number;
  readonly currency: string;
  /** What remains of the key's bytes of the day, in tenths from 0 to 1; null: it has no budget. */
  readonly budgetLeft: number | null;
}

/** The least sum that is written, in the currency of the estimate. */
export const CENT = 0.01;

/** Of the next run; null: nothing is billed, or it is not known. */
export const estimate = signal<Estimate | null>(null);

/** @returns null: nothing is billed, or the key may not know */
export async function estimateOf(parameters: Sent): Promise<Estimate | null> {
  const [target, presented] = [endpoint.peek(), key.peek()];
  if (target === null || presented === null || free.has(`${presented} ${target.name}`)) return null;
  const path = `api/endpoints/analyze/${encodeURIComponent(target.name)}`;
  const sent = new Map<string, string | readonly string[]>([...parameters, ['estimate', 'true']]);
  const { text } = await ask(path, sent, presented, new AbortController().signal);
  const { result } = JSON.parse(text) as { result: { estimate: Estimate | null; errors: readonly unknown[] } };
  if (result.estimate === null && result.errors.length === 0) free.add(`${presented} ${target.name}`);
  return result.estimate;
}

/** Keys and endpoints of which it is known that nothing is billed. */
const free = new Set<string>();

/** Of all that a run asks: the rows, and the histogram where the engine counts it. @returns as `estimateOf` */
export async function estimateRun(): Promise<Estimate | null> {
  const bounds = boundsOf(search.peek().range, serviceNow());
  const rows = await estimateOf(parametersOf(bounds));
  const counted = rows === null ? null : await countingOf(bounds);
  const bars = counted === null ? null : await estimateOf(counted.sent);
  if (rows === null || bars === null) return rows;
  return { ...bars, bytes: String(BigInt(rows.bytes) + BigInt(bars.bytes)), price: rows.price + bars.price };
}

export function priceText({ bytes, price, currency }: Estimate): string {
  return `${bytesText(Number(bytes))}, ${moneyText(price, currency)}`;
}

/** Money to the cent; less than one is said to be that. */
export function moneyText(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return amount > 0 && amount < CENT ? `under ${format.format(CENT)}` : format.format(amount);
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const at = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** at).toLocaleString('en', { maximumFractionDigits: at === 0 ? 0 : 1 })} ${units[at] ?? ''}`;
}

/** Milliseconds without a key before a query is estimated. */
const PAUSE = 700;
let timer: ReturnType<typeof setTimeout> | undefined;
let latest = 0;

/** Asks for the estimate again: what is left of the budget changes with each run. */
export function estimateAgain(): void {
  const number = ++latest;
  estimateRun().then(
    (found) => {
      if (number === latest) estimate.value = found;
    },
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      if (number === latest) estimate.value = null;
    },
  );
}

effect(() => {
  const [known, { query }] = [analysis.value, search.value];
  const readable = endpoint.value !== null && (query.trim() === '' || known?.errors.length === 0);
  clearTimeout(timer);
  if (readable) timer = setTimeout(estimateAgain, PAUSE);
  else {
    latest++;
    estimate.value = null;
  }
});
