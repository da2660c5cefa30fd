/** The nine raw log tables, and one with a numeric tenant: their fields, the kind of each, and what marks a row's project. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRestSchema, type RestField } from '../../../packages/googlesql/src/rest-schema';
import { TEXT_KINDS, type Kind, type TextKind } from './value-kinds';

/** Where a table names the project of a row. */
export type Marker = 'project' | 'metadata.project' | 'metadata.project_ref' | 'tenant';

export interface RawTable {
  readonly name: string;
  readonly marker: Marker;
  /** Kind of the values of `event_message`. */
  readonly message: TextKind;
  readonly fields: readonly RestField[];
}

const SCHEMA_FILE = join(__dirname, '../../fixture/schema.json');

const EVENTS_SCHEMA = {
  fields: [
    { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
    { name: 'id', type: 'STRING', mode: 'REQUIRED' },
    { name: 'tenant', type: 'INTEGER', mode: 'NULLABLE' },
    { name: 'event_message', type: 'STRING', mode: 'NULLABLE' },
    { name: 'amount', type: 'INTEGER', mode: 'NULLABLE' },
    { name: 'score', type: 'FLOAT', mode: 'NULLABLE' },
    { name: 'tags', type: 'STRING', mode: 'REPEATED' },
  ],
};

/** Schemas as they stand in `schema.json`. */
export function schemas(): Record<string, unknown> {
  const written = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as Record<string, unknown>;
  return { ...written, raw_events: EVENTS_SCHEMA };
}

const TABLES: readonly (readonly [name: string, marker: Marker, message: TextKind])[] = [
  ['raw_edge_logs', 'project', 'words'],
  ['raw_postgres_logs', 'project', 'json'],
  ['raw_function_edge_logs', 'metadata.project_ref', 'zone'],
  ['raw_function_logs', 'metadata.project_ref', 'pattern'],
  ['raw_auth_logs', 'project', 'number'],
  ['raw_realtime_logs', 'metadata.project', 'instant'],
  ['raw_storage_logs', 'metadata.project', 'hex'],
  ['raw_postgrest_logs', 'project', 'date'],
  ['raw_pgbouncer_logs', 'project', 'like'],
  ['raw_events', 'tenant', 'number'],
];

export const RAW_TABLES: readonly RawTable[] = (() => {
  const written = schemas();
  return TABLES.map(([name, marker, message]) => ({
    name,
    marker,
    message,
    fields: parseRestSchema(written[name], name),
  }));
})();

export function rawTable(name: string): RawTable {
  const table = RAW_TABLES.find((one) => one.name === name);
  if (table === undefined) throw new RangeError(`No table ${name}.`);
  return table;
}

const KNOWN: Readonly<Record<string, Kind>> = {
  timezone: 'zone',
  search: 'pattern',
  query: 'json',
  content_length: 'number',
  date: 'instant',
  hash: 'hex',
  url: 'other',
  path: 'other',
  project: 'other',
  project_ref: 'other',
};

const KINDS = new Map<RestField, Kind>();

/** The kind of a field, the same in every run: by its type, its name, or else one of the kinds of text by a hash of its path. */
export function kindOf(table: RawTable, path: string, field: RestField): Kind {
  const kind = KINDS.get(field) ?? chooseKind(table, path, field);
  KINDS.set(field, kind);
  return kind;
}

function chooseKind(table: RawTable, path: string, field: RestField): Kind {
  if (path === 'event_message') return table.message;
  if (path === 'id') return 'other';
  switch (field.type) {
    case 'INT64':
      return 'count';
    case 'FLOAT64':
      return 'ratio';
    case 'BOOL':
      return 'truth';
    case 'TIMESTAMP':
      return 'moment';
    case 'STRING':
      return KNOWN[field.name] ?? TEXT_KINDS[hash(path) % TEXT_KINDS.length] ?? 'words';
    default:
      return 'other';
  }
}

function hash(text: string): number {
  let state = 7;
  for (const character of text) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return state;
}
