/** The tables that resolver tests query: the nine log tables as consumers see them, and one with a column per type. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseQuery } from '../src/parser';
import type { ResolvedQuery } from '../src/resolved';
import { resolveQuery, type Environment } from '../src/resolver';
import { columnsOf, parseRestSchema } from '../src/rest-schema';
import { typeText } from '../src/type-names';
import type { ScalarName, SqlType, TableSchema } from '../src/types';
import { fieldsOf } from '../../duckdb-engine/test/fields';

const schema = JSON.parse(readFileSync(join(__dirname, '../../../test/fixture/schema.json'), 'utf8')) as Record<
  string,
  unknown
>;

const CONSUMER_COLUMNS = ['timestamp', 'id', 'event_message', 'metadata'];

const scalar = (kind: ScalarName): SqlType => ({ kind });

/** A column for each type. */
const EVERY_TYPE = columnsOf(
  fieldsOf(`i INT64, f FLOAT64, n NUMERIC, bn BIGNUMERIC, s STRING, b BYTES, bo BOOL, d DATE, ti TIME, dt DATETIME, ts TIMESTAMP, iv INTERVAL,
    j JSON, g GEOGRAPHY, ai INT64*, as_ STRING*, st RECORD(a INT64, b STRING), ast RECORD*(a INT64, b STRING), af FLOAT64*`),
);

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
