/** What the key may query at the endpoint: tables, columns, types. For the analyser. */
import { computed, effect, signal } from '@preact/signals';

import { type DescribedColumn, readColumns } from '@logquay/googlesql';
import type { TypedParameter, NamedType, TableSchema } from '@logquay/googlesql/types';
import { ApiError, ask, type ParameterDescription } from './api';
import { endpoint } from './search';
import { key } from './session';

export interface Schema {
  readonly endpoint: string;
  readonly tables: readonly TableSchema[];
  /** Of the endpoint's own rows; null: not known. */
  readonly columns: readonly NamedType[] | null;
  readonly parameters: readonly TypedParameter[];
}

/** null: it has not come, or is not to be had. */
export const schema = signal<Schema | null>(null);

/** Whether the key may send queries of its own. */
export const mayQuery = computed(
  () =>
    endpoint.value?.sandbox === true &&
    (schema.value?.endpoint !== endpoint.value.name || schema.value.tables.length > 0),
);

const BOUND: Readonly<Record<string, 'INT64' | 'FLOAT64' | 'BOOL'>> = {
  integer: 'INT64',
  number: 'FLOAT64',
  boolean: 'BOOL',
};

function typed({ name, type }: ParameterDescription): TypedParameter {
  const value = BOUND[type.replace('[]', '')] ?? 'STRING';
  return { name, type: type.endsWith('[]') ? `ARRAY<${value}>` : value };
}

let current: AbortController | null = null;
let loading: Promise<void> = Promise.resolve();

/** Resolves when the schema of the endpoint has come, or has failed to. */
export const schemaLoaded = (): Promise<void> => loading;

effect(() => {
  const [presented, name] = [key.value, endpoint.value?.name];
  current?.abort();
  if (presented === null || name === undefined) schema.value = null;
  else {
    current = new AbortController();
    loading = load(name, presented, current.signal);
  }
});

interface Described {
  readonly tables: readonly { readonly name: string; readonly columns: readonly DescribedColumn[] }[];
  readonly columns: readonly DescribedColumn[] | null;
  readonly parameters: readonly ParameterDescription[];
}

async function load(name: string, presented: string, signal: AbortSignal): Promise<void> {
  try {
    const { text } = await ask(`api/endpoints/schema/${encodeURIComponent(name)}`, new Map(), presented, signal);
    const { tables, columns, parameters } = (JSON.parse(text) as { result: Described }).result;
    schema.value = {
      endpoint: name,
      tables: tables.map((table) => ({ name: table.name, columns: readColumns(table.columns) })),
      columns: columns === null ? null : readColumns(columns),
      parameters: parameters.map(typed),
    };
  } catch (error) {
    // Without it the page shows what runs answer, and no more.
    if (!signal.aborted && error instanceof ApiError) schema.value = null;
  }
}
