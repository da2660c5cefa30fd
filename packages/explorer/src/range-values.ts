/** Values of a field over the whole range, counted by the engine. */
import type { Signal } from '@preact/signals';

import { read } from './analyser/analyser';
import { consumerText } from './analysis';
import { ask, type Sent } from './api';
import { type Estimate, estimateOf } from './estimate';
import type { TopValues } from './field-values';
import { result } from './result';
import { rowsOf } from './run';
import { key } from './session';
import { fieldExpression } from './severity';

export type RangeCount =
  | { readonly kind: 'counting' }
  /** On BigQuery the price comes first. */
  | { readonly kind: 'priced'; readonly estimate: Estimate }
  | { readonly kind: 'counted'; readonly values: TopValues }
  | { readonly kind: 'failed'; readonly message: string };

const MOST_COUNTED = 20;

/** Counts the values of a field; where that has a price, it is shown first. @param agreed the price was seen */
export async function countRangeOf(
  names: readonly string[],
  into: Signal<RangeCount | null>,
  agreed: boolean,
): Promise<void> {
  into.value = { kind: 'counting' };
  try {
    const sent = await countingOf(names, MOST_COUNTED);
    const estimate = agreed || sent === null ? null : await estimateOf(sent);
    into.value =
      sent === null
        ? { kind: 'failed', message: 'The values of this field cannot be counted over the range.' }
        : estimate !== null
          ? { kind: 'priced', estimate }
          : { kind: 'counted', values: await counted(sent) };
  } catch (error) {
    into.value = { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** What was offered before, by run and field. */
let offered = new Map<string, Promise<TopValues | null>>();
let offeredOf = 0;

/** The values of a field over the range, where that costs nothing. null: it does, or they cannot be counted */
export function freeValues(names: readonly string[]): Promise<TopValues | null> {
  const number = result.peek()?.number ?? 0;
  if (number !== offeredOf) offered = new Map();
  offeredOf = number;
  const path = names.join('\n');
  const found = offered.get(path) ?? freely(names).catch(() => null);
  offered.set(path, found);
  return found;
}

async function freely(names: readonly string[]): Promise<TopValues | null> {
  const sent = await countingOf(names, 100);
  return sent === null || (await estimateOf(sent)) !== null ? null : counted(sent);
}

/** The query that counts; null: there is no such field, or the query's rows cannot be counted. */
async function countingOf(names: readonly string[], most: number): Promise<Sent | null> {
  const done = result.peek();
  const given = done === null ? null : consumerText(done.written);
  if (done === null || given === null) return null;
  const source = await read('rows', given);
  const field = source === null ? null : fieldExpression(source.columns, 'q', names);
  if (source === null || field === null) return null;
  const value = /^(?:ARRAY|JSON)$/.test(field.type.kind) ? `TO_JSON_STRING(${field.sql})` : field.sql;
  const limit = Math.min(most, done.endpoint.maxRows);
  const sql = `SELECT ${value} AS value, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total FROM (${source.sql}\n) AS q WHERE ${field.sql} IS NOT NULL GROUP BY 1 ORDER BY n DESC LIMIT ${limit}`;
  const sent = new Map(done.parameters).set('sql', sql);
  sent.delete('lql');
  return sent;
}

async function counted(sent: Sent): Promise<TopValues> {
  const [target, presented] = [result.peek()?.endpoint ?? null, key.peek()];
  if (target === null || presented === null) return { values: [], present: 0, distinct: 0, total: 0 };
  const path = `api/endpoints/query/${encodeURIComponent(target.name)}`;
  const { text } = await ask(path, sent, presented, new AbortController().signal);
  const rows = rowsOf(text);
  const values = rows.map(({ value: one = null, n }) => ({ value: one, count: Number(n) }));
  // Of all values, those beyond the most among them.
  const total = Number(rows[0]?.['total'] ?? 0);
  return { values, present: total, distinct: values.length, total };
}
