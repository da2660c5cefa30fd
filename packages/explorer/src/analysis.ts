/** What is known of the written query, while it is written. */
import { effect, signal } from '@preact/signals';

import type { ConsumerAnalysis, ConsumerText } from '@logquay/googlesql/consumer';
import { read } from './analyser/analyser';
import { serviceNow } from './api';
import { mayQuery, schema } from './schema';
import { query, search, sentQuery, table, type Written } from './search';

export interface Analysed extends ConsumerAnalysis {
  readonly text: string;
}

/** null: nothing is written, or nothing is known of it. */
export const analysis = signal<Analysed | null>(null);

/** Milliseconds without a key before a text is read. */
const PAUSE = 120;

/** A text with all that its meaning follows from; null: the tables are not known. */
export function consumerText({ text, language }: Written): ConsumerText | null {
  if (schema.value === null) return null;
  const { tables: all, parameters } = schema.value;
  // Places of faults are those of the text as it is written, without the table that goes before it.
  const tables =
    text !== query.value || sentQuery.value === text ? all : all.filter(({ name }) => name === table.value);
  return { language, text, tables, parameters, now: BigInt(Math.round(serviceNow())) * 1000n };
}

let timer: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const text = query.value;
  const given = mayQuery.value && text.trim() !== '' ? consumerText({ text, language: search.value.language }) : null;
  clearTimeout(timer);
  if (given === null) {
    analysis.value = null;
    return;
  }
  timer = setTimeout(() => {
    void read('analyse', given).then((found) => {
      if (query.peek() === text) analysis.value = found === null ? null : { ...found, text };
    });
  }, PAUSE);
});
