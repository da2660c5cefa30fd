import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import { parseRestSchema, type RestField } from '../../googlesql/src/rest-schema';

interface KnownTable {
  readonly table: string;
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

const json = (path: string): unknown => JSON.parse(readFileSync(join(__dirname, '../../../test', path), 'utf8'));
const TYPES: Readonly<Record<string, string>> = {
  string: 'STRING',
  'string[]': 'STRING REPEATED',
  number: 'INT64',
  'number[]': 'INT64 REPEATED',
  boolean: 'BOOL',
  datetime: 'TIMESTAMP',
};

/** Every leaf by its path, every record too. */
function flat(fields: readonly RestField[], prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, type, mode, fields: inner } of fields) {
    found.set(prefix + name, mode === 'REPEATED' ? `${type} REPEATED` : type);
    for (const [path, what] of flat(inner, `${prefix}${name}.`)) found.set(path, what);
  }
  return found;
}

describe('The built-in log schema', () => {
  const known = json('cases/log-schemas.json') as readonly KnownTable[];

  it('has the nine raw tables', () => {
    expect([...LOG_SCHEMA.keys()].sort()).toEqual(known.map(({ table }) => `raw_${table}`).sort());
  });

  it.each(known.map(({ table, fields }) => [table, fields] as const))('knows every field of %s', (table, fields) => {
    const paths = flat(LOG_SCHEMA.get(`raw_${table}`)!);
    for (const { path, type } of fields) {
      // Storage's response time is measured in fractions.
      const expected = path === 'metadata.responseTime' ? 'FLOAT64' : TYPES[type];
      expect([path, paths.get(path)]).toEqual([path, expected]);
    }
  });

  it('agrees with the schema of the fixture', () => {
    for (const [table, schema] of Object.entries(json('fixture/schema.json') as Record<string, unknown>)) {
      const paths = flat(LOG_SCHEMA.get(table)!);
      for (const [path, type] of flat(parseRestSchema(schema, table))) {
        expect([table, path, paths.get(path)]).toEqual([table, path, type]);
      }
    }
  });

  it('holds every record as a list, and requires a time and an id', () => {
    for (const fields of LOG_SCHEMA.values()) {
      const records = [...flat(fields)].filter(([, type]) => type.startsWith('RECORD'));
      expect(records.every(([, type]) => type === 'RECORD REPEATED')).toBe(true);
      expect(fields.filter(({ mode }) => mode === 'REQUIRED').map(({ name }) => name)).toEqual(['timestamp', 'id']);
    }
  });
});
