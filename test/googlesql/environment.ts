/** The tables that resolver tests query: the nine log tables as consumers see them, and one with a column per type. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseQuery } from '../../src/googlesql/parser';
import type { ResolvedQuery } from '../../src/googlesql/resolved';
import { resolveQuery, type Environment } from '../../src/googlesql/resolver';
import { columnsOf, parseRestSchema } from '../../src/googlesql/rest-schema';
import { typeText } from '../../src/googlesql/type-names';
import type { NamedType, ScalarName, SqlType, TableSchema } from '../../src/googlesql/types';

const schema = JSON.parse(readFileSync(join(__dirname, '..', 'fixture', 'schema.json'), 'utf8')) as Record<
  string,
  unknown
>;

const CONSUMER_COLUMNS = ['timestamp', 'id', 'event_message', 'metadata'];

const scalar = (kind: ScalarName): SqlType => ({ kind });
const array = (element: SqlType): SqlType => ({ kind: 'ARRAY', element });
const pair: SqlType = {
  kind: 'STRUCT',
  fields: [
    { name: 'a', type: scalar('INT64') },
    { name: 'b', type: scalar('STRING') },
  ],
};

const EVERY_TYPE: readonly NamedType[] = [
  { name: 'i', type: scalar('INT64') },
  { name: 'f', type: scalar('FLOAT64') },
  { name: 'n', type: scalar('NUMERIC') },
  { name: 'bn', type: scalar('BIGNUMERIC') },
  { name: 's', type: scalar('STRING') },
  { name: 'b', type: scalar('BYTES') },
  { name: 'bo', type: scalar('BOOL') },
  { name: 'd', type: scalar('DATE') },
  { name: 'ti', type: scalar('TIME') },
  { name: 'dt', type: scalar('DATETIME') },
  { name: 'ts', type: scalar('TIMESTAMP') },
  { name: 'iv', type: scalar('INTERVAL') },
  { name: 'j', type: scalar('JSON') },
  { name: 'g', type: scalar('GEOGRAPHY') },
  { name: 'ai', type: array(scalar('INT64')) },
  { name: 'as_', type: array(scalar('STRING')) },
  { name: 'st', type: pair },
  { name: 'ast', type: array(pair) },
  { name: 'af', type: array(scalar('FLOAT64')) },
];

export const tables = new Map<string, TableSchema>([['types_t', { name: 'types_t', columns: EVERY_TYPE }]]);
for (const [raw, table] of Object.entries(schema)) {
  const name = raw.replace(/^raw_/, '');
  const all = columnsOf(parseRestSchema(table, raw));
  const columns = CONSUMER_COLUMNS.flatMap((column) => all.filter((field) => field.name === column));
  tables.set(name, { name, columns });
}

/** Table names ignore case here, as those of the CTEs that stand behind them do. */
export const environment: Environment = {
  findTable: ([first, ...rest]) => (rest.length > 0 ? undefined : tables.get(first?.name.toLowerCase() ?? '')),
  parameters: new Map([
    ['project', scalar('STRING')],
    ['iso_timestamp_start', scalar('STRING')],
    ['iso_timestamp_end', scalar('STRING')],
    ['p_int', scalar('INT64')],
    ['p_ts', scalar('TIMESTAMP')],
    ['p_f', scalar('FLOAT64')],
    ['p_d', scalar('DATE')],
  ]),
};

export function resolve(sql: string): ResolvedQuery {
  return resolveQuery(parseQuery(sql), sql, environment);
}

/** `id STRING, - INT64`: names and types of the result, a dash for a column without a name. */
export function columnsText({ output }: ResolvedQuery): string {
  return output.map(({ name, column }) => `${name ?? '-'} ${typeText(column.type)}`).join(', ');
}
