/** What a query would cost on BigQuery, before it runs. */
import { effect, signal } from '@preact/signals';

import { analysis } from './analysis';
import { ApiError, ask, type Sent, serviceNow } from './api';
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

/** Of the written query; null: nothing is billed, or it is not known. */
export const estimate = signal<Estimate | null>(null);

/** @returns null: nothing is billed, or the key may not know */
export async function estimateOf(parameters: Sent): Promise<Estimate | null> {
  const [target, presented] = [endpoint.peek(), key.peek()];
  if (target === null || presented === null || isFree === `${presented} ${target.name}`) return null;
  const path = `api/endpoints/analyze/${encodeURIComponent(target.name)}`;
  const sent = new Map<string, string | readonly string[]>([...parameters, ['estimate', 'true']]);
  const { text } = await ask(path, sent, presented, new AbortController().signal);
  const { result } = JSON.parse(text) as { result: { estimate: Estimate | null; errors: readonly unknown[] } };
  if (result.estimate === null && result.errors.length === 0) isFree = `${presented} ${target.name}`;
  return result.estimate;
}

/** The key and endpoint of which it is known that nothing is billed. */
let isFree = '';

export function priceText({ bytes, price, currency }: Estimate): string {
  const money = new Intl.NumberFormat('en', { style: 'currency', currency, maximumSignificantDigits: 2 }).format(price);
  return `${bytesText(Number(bytes))}, about ${money}`;
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const at = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** at).toLocaleString('en', { maximumFractionDigits: at === 0 ? 0 : 1 })} ${units[at] ?? ''}`;
}

/** Milliseconds without a key before a query is estimated. */
const PAUSE = 700;
let timer: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const [known, { range }] = [analysis.value, search.value];
  clearTimeout(timer);
  if (known === null || known.errors.length > 0) {
    estimate.value = null;
    return;
  }
  timer = setTimeout(() => {
    estimateOf(parametersOf(boundsOf(range, serviceNow()))).then(
      (found) => (estimate.value = found),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        estimate.value = null;
      },
    );
  }, PAUSE);
});
