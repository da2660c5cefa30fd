/** What a generated query reads: CTE tables, their records unnested, and queries over these. */
import type { RestField } from '../../../packages/googlesql/src/rest-schema';
import type { Random } from '../../sandbox/fuzz/random';
import { kindOf, rawTable } from '../data/raw-tables';
import type { Kind } from '../data/value-kinds';

export type ColumnType = 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL' | 'TIMESTAMP' | 'JSON' | 'OTHER';

export interface Column {
  /** Qualified by its alias, as an expression names it. */
  readonly sql: string;
  readonly type: ColumnType;
  readonly kind: Kind;
  /** Whether every row of other projects has a value for it, the short ones of long tables too. */
  readonly everywhere: boolean;
}

/** Something to select from. */
export interface Relation {
  /** Of the FROM clause, its aliases included. */
  readonly from: string;
  readonly columns: readonly Column[];
  /** Columns that together order its rows totally. */
  readonly key: readonly string[];
  /** A list of records of the row, to unnest or to look into; null where there is none. */
  readonly records: Records | null;
}

export interface Records {
  readonly sql: string;
  /** Columns of one element, under the alias `m`. */
  readonly columns: readonly Column[];
}

/** A CTE table of an endpoint. */
export interface CteTable {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  /** The raw table whose `metadata` it shows. */
  readonly metadata: string | null;
}

const column = (sql: string, type: ColumnType, kind: Kind): Column => ({ sql, type, kind, everywhere: true });
const ID = column('id', 'STRING', 'other');
const TIMESTAMP = column('timestamp', 'TIMESTAMP', 'moment');
const text = (sql: string, kind: Kind): Column => column(sql, 'STRING', kind);
const number = (sql: string): Column => column(sql, 'INT64', 'count');

const table = (name: string, columns: readonly Column[], key = ['id'], metadata: string | null = null): CteTable => ({
  name,
  columns,
  key,
  metadata,
});

const LOG_TABLES = [
  'edge_logs',
  'postgres_logs',
  'function_edge_logs',
  'function_logs',
  'auth_logs',
  'realtime_logs',
  'storage_logs',
  'postgrest_logs',
  'pgbouncer_logs',
];

/** The CTE tables by endpoint. */
export const CTE_TABLES: Readonly<Record<string, readonly CteTable[]>> = {
  'logs.all': LOG_TABLES.map((name) =>
    table(name, [ID, TIMESTAMP, text('event_message', rawTable(`raw_${name}`).message)], ['id'], `raw_${name}`),
  ),
  'usage.api-counts': [
    table(
      'chart_counts',
      [TIMESTAMP, ...['rest', 'storage', 'auth', 'realtime'].map((service) => number(`total_${service}_requests`))],
      ['timestamp'],
    ),
    table('dates', [column('start', 'TIMESTAMP', 'moment')], ['start']),
  ],
  'tenants.shapes': [
    table(
      'everything',
      [ID, TIMESTAMP, text('event_message', 'words'), text('project', 'other')],
      ['id'],
      'raw_edge_logs',
    ),
    table('numbers', [ID, TIMESTAMP, text('event_message', 'number'), number('n'), number('quotient')]),
    table('larger_numbers', [ID, TIMESTAMP, number('n'), number('quotient')]),
    table('documents', [ID, TIMESTAMP, column('document', 'JSON', 'other'), text('n', 'number')]),
    table('marked', [ID, TIMESTAMP, text('event_message', 'instant'), text('level', 'words')]),
    table(
      'unnested',
      [ID, TIMESTAMP, number('o'), text('request_id', 'words'), text('raw_error', 'words')],
      ['id', 'o'],
    ),
    table(
      'per_minute',
      [column('minute', 'TIMESTAMP', 'moment'), number('n'), text('greatest', 'date'), number('shortest')],
      ['minute'],
    ),
    table('paired', [ID, TIMESTAMP, text('edge_message', 'words'), text('auth_message', 'number')]),
    table('distinct_messages', [text('event_message', 'like')], ['event_message']),
    table('newest', [ID, TIMESTAMP, text('event_message', 'words')]),
    table('ranked', [ID, TIMESTAMP, text('event_message', 'number'), number('position'), text('previous', 'number')]),
    table('both_kinds', [ID, text('event_message', 'date')], ['id', 'event_message']),
  ],
  'tenants.events': [
    table('events', [
      ID,
      TIMESTAMP,
      text('event_message', 'number'),
      number('amount'),
      column('score', 'FLOAT64', 'ratio'),
    ]),
    table('parsed_events', [ID, TIMESTAMP, number('n'), number('share'), text('tag', 'words')]),
  ],
};

/** A CTE table under an alias, sometimes with lists of its records unnested beside it. */
export function baseRelation({ name, columns, key, metadata }: CteTable, alias: string, random: Random): Relation {
  const qualified = columns.map((one) => ({ ...one, sql: `${alias}.${one.sql}` }));
  const base: Relation = {
    from: `${name} as ${alias}`,
    columns: qualified,
    key: key.map((one) => `${alias}.${one}`),
    records: metadata === null ? null : records(metadata, `${alias}.metadata`, random),
  };
  return metadata !== null && random.chance(40) ? unnested(base, metadata, alias, random) : base;
}

/** Down one path of record lists from `metadata`, with an offset each, so that there is a total order. */
function unnested(base: Relation, metadata: string, alias: string, random: Random): Relation {
  const raw = rawTable(metadata);
  let fields = raw.fields;
  let next = fields.find(({ name }) => name === 'metadata');
  let path = '';
  let parent = alias;
  let { from } = base;
  const columns = [...base.columns];
  const key = [...base.key];
  for (let depth = 1; next !== undefined; depth++) {
    const one = `${alias}_${depth}`;
    from += `${random.chance(50) ? ',' : ' cross join'} unnest(${parent}.${next.name}) as ${one} with offset as ${one}_o`;
    key.push(`${one}_o`);
    path = `${path}${next.name}.`;
    fields = next.fields;
    parent = one;
    columns.push(...scalars(fields, one, path, metadata));
    const deeper = fields.filter(({ type, mode }) => type === 'RECORD' && mode === 'REPEATED');
    next = deeper.length > 0 && random.chance(60) ? random.pick(deeper) : undefined;
  }
  return { ...base, from, columns, key };
}

/** The list itself, to look into in a subquery. */
function records(metadata: string, sql: string, random: Random): Records {
  const field = rawTable(metadata).fields.find(({ name }) => name === 'metadata');
  const fields = field?.fields ?? [];
  const nested = fields.filter(({ type, mode }) => type === 'RECORD' && mode === 'REPEATED');
  const direct = scalars(fields, 'm', 'metadata.', metadata);
  // A table whose metadata holds nothing but lists has its columns one level down.
  if (nested.length > 0 && (direct.length === 0 || random.chance(30))) {
    const inner = random.pick(nested);
    const through = `${sql}[safe_offset(0)].${inner.name}`;
    const columns = scalars(inner.fields, 'm', `metadata.${inner.name}.`, metadata);
    if (columns.length > 0) return { sql: through, columns };
  }
  return { sql, columns: direct };
}

function scalars(fields: readonly RestField[], alias: string, path: string, metadata: string): Column[] {
  return fields.flatMap((field) => {
    if (field.type === 'RECORD' || field.mode === 'REPEATED') return [];
    const kind = kindOf(rawTable(metadata), `${path}${field.name}`, field);
    const sql = `${alias}.${RESERVED.has(field.name) ? `\`${field.name}\`` : field.name}`;
    return [{ ...column(sql, columnType(field), kind), everywhere: false }];
  });
}

const RESERVED = new Set(['hash', 'limit']);

function columnType({ type }: RestField): ColumnType {
  switch (type) {
    case 'STRING':
    case 'INT64':
    case 'FLOAT64':
    case 'BOOL':
    case 'TIMESTAMP':
      return type;
    default:
      return 'OTHER';
  }
}
