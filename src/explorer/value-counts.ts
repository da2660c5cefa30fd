/** Values of a field over the whole range, counted by the engine. */
import type { Signal } from '@preact/signals';

import { read } from './analyser/analyser';
import { consumerText } from './analysis';
import { ask } from './api';
import { type Estimate, estimateOf, priceText } from './estimate';
import type { TopValues } from './field-values';
import { result, rowsOf } from './run';
import { endpoint, query } from './search';
import { key } from './session';
import { fieldExpression } from './severity-sql';

export type RangeCount =
  | { readonly kind: 'counting' }
  /** On BigQuery the price comes first. */
  | { readonly kind: 'priced'; readonly text: string }
  | { readonly kind: 'counted'; readonly values: TopValues }
  | { readonly kind: 'failed'; readonly message: string };

const MOST_VALUES = 20;

/** Counts the values of a field; where that has a price, it is shown first. @param agreed the price was seen */
export async function countValues(
  names: readonly string[],
  into: Signal<RangeCount | null>,
  agreed: boolean,
): Promise<void> {
  const [done, target, presented, given] = [result.peek(), endpoint.peek(), key.peek(), consumerText(query.peek())];
  if (done === null || target === null || presented === null || given === null) return;
  into.value = { kind: 'counting' };
  try {
    const source = await read('rows', given);
    const field = source === null ? null : fieldExpression(source.columns, 'q', names);
    if (source === null || field === null) {
      into.value = { kind: 'failed', message: 'The values of this field cannot be counted over the range.' };
      return;
    }
    const value = field.type.kind === 'ARRAY' ? `TO_JSON_STRING(${field.sql})` : field.sql;
    const sql = `SELECT ${value} AS value, COUNT(*) AS n FROM (${source.sql}\n) AS q WHERE ${field.sql} IS NOT NULL GROUP BY 1 ORDER BY n DESC LIMIT ${MOST_VALUES}`;
    const sent = new Map<string, string | readonly string[]>([...done.parameters, ['sql', sql]]);
    sent.delete('lql');
    const estimate: Estimate | null = agreed ? null : await estimateOf(sent);
    if (estimate !== null) {
      into.value = { kind: 'priced', text: priceText(estimate) };
      return;
    }
    const path = `api/endpoints/query/${encodeURIComponent(target.name)}`;
    const { text } = await ask(path, sent, presented, new AbortController().signal);
    const values = rowsOf(text).map(({ value: one = null, n }) => ({ value: one, count: Number(n) }));
    const total = values.reduce((sum, { count }) => sum + count, 0);
    into.value = { kind: 'counted', values: { values, present: total, distinct: values.length, total } };
  } catch (error) {
    into.value = { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
