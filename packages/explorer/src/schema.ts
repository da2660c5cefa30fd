/** What the key may query at the endpoint: tables, columns, types. For the analyser. */
import { computed, effect, signal } from '@preact/signals';

import { type DescribedColumn, readColumns } from '@logquay/googlesql';
import type { ConsumerTable } from '@logquay/googlesql/consumer';
import {
  type DescribedRoles,
  type NamedType,
  type Roles,
  roleSettings,
  rolesOf,
  type TypedParameter,
} from '@logquay/googlesql/types';
import { ApiError, ask, type ParameterDescription } from './api';
import { endpoint, ownTable } from './search';
import { key } from './session';

export interface Schema {
  readonly endpoint: string;
  readonly tables: readonly ConsumerTable[];
  /** Of the endpoint's own rows; null: not known. */
  readonly columns: readonly NamedType[] | null;
  /** Of those columns. */
  readonly roles: Roles | null;
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
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly DescribedColumn[];
    readonly roles?: DescribedRoles;
  }[];
  readonly columns: readonly DescribedColumn[] | null;
  readonly roles?: DescribedRoles | null;
  readonly parameters: readonly ParameterDescription[];
}

async function load(name: string, presented: string, signal: AbortSignal): Promise<void> {
  try {
    const { text } = await ask(`api/endpoints/schema/${encodeURIComponent(name)}`, new Map(), presented, signal);
    const { tables, columns, roles, parameters } = (JSON.parse(text) as { result: Described }).result;
    const shape = (of: readonly DescribedColumn[] | null): string =>
      JSON.stringify(of?.map((one) => [one.name, one.type]));
    const own = columns === null ? undefined : tables.find((one) => shape(one.columns) === shape(columns));
    ownTable.value = own?.name ?? '';
    schema.value = {
      endpoint: name,
      tables: tables.map((table) => {
        const read = readColumns(table.columns);
        return { name: table.name, columns: read, roles: readRoles(read, table.roles) };
      }),
      columns: columns === null ? null : readColumns(columns),
      roles: columns === null ? null : readRoles(readColumns(columns), roles),
      parameters: parameters.map(typed),
    };
  } catch (error) {
    // Without it the page shows what runs answer, and no more.
    if (!signal.aborted && error instanceof ApiError) schema.value = null;
  }
}

/** What is described of them, and the types of what is at their paths. */
function readRoles(columns: readonly NamedType[], described: DescribedRoles | null | undefined): Roles {
  return rolesOf(columns, described ? roleSettings(described) : {});
}
