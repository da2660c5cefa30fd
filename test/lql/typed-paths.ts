/** LQL over generated schemas, held to what its paths mean over plain objects. */
import fc from 'fast-check';
import { readLql } from '../../packages/googlesql/src/lql/read';
import { toSql } from '../../packages/googlesql/src/lql/sql';
import type { NamedType, SqlType } from '../../packages/googlesql/src/types';
import { runs } from '../scale';
import type { Row } from './rows-over-engine';

type Scalar = 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL';
/** `pairs`: a list of `key` and `value`; a value of several types is a record of which one member is there. */
type Shape =
  | { readonly kind: 'scalar'; readonly type: Scalar }
  | { readonly kind: 'record' | 'list'; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly kind: 'pairs'; readonly value: Scalar | 'any' }
  | { readonly kind: 'json' };
type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain };

const NAMES = ['a', 'B', 'c_d', 'level'];
const KEYS = ['k', 'http', 'status', 'http.status'];
const MEMBERS: Readonly<Record<string, Scalar>> = { s: 'STRING', i: 'INT64', f: 'FLOAT64', b: 'BOOL' };
const VALUES: Readonly<Record<Scalar, readonly Plain[]>> = {
  STRING: ['', 'x', 'xyz', "it's", '5', '\\d'],
  INT64: [0, 5, -7, 500],
  FLOAT64: [0.5, 12.25, -3.5],
  BOOL: [true, false],
};
const SCALARS = ['STRING', 'INT64', 'FLOAT64', 'BOOL'] as const;

const shape = (depth: number): fc.Arbitrary<Shape> => {
  const leaf = fc.oneof(
    fc.record({ kind: fc.constant('scalar' as const), type: fc.constantFrom(...SCALARS) }),
    fc.constant({ kind: 'json' } as const),
    fc.record({ kind: fc.constant('pairs' as const), value: fc.constantFrom(...SCALARS, 'any' as const) }),
  );
  if (depth === 1) return leaf;
  const fields = fc.dictionary(fc.constantFrom(...NAMES), shape(depth - 1), { minKeys: 1, maxKeys: 2 });
  return fc.oneof(leaf, fc.record({ kind: fc.constantFrom('record' as const, 'list' as const), fields }));
};

const scalar = (type: Scalar): fc.Arbitrary<Plain> => fc.constantFrom(...VALUES[type], null);
const anyScalar = fc.oneof(...SCALARS.map(scalar));
const json = (depth: number): fc.Arbitrary<Plain> =>
  depth === 0
    ? anyScalar
    : fc.oneof(anyScalar, fc.dictionary(fc.constantFrom(...KEYS), json(depth - 1), { maxKeys: 3 }));

function value(of: Shape): fc.Arbitrary<Plain> {
  switch (of.kind) {
    case 'scalar':
      return scalar(of.type);
    case 'json':
      return fc.dictionary(fc.constantFrom(...KEYS), json(2), { minKeys: 1, maxKeys: 4 });
    case 'pairs': {
      const one = of.value === 'any' ? fc.oneof(...Object.entries(MEMBERS).map(only)) : scalar(of.value);
      return fc.array(fc.record({ key: fc.constantFrom(...KEYS), value: one }), { maxLength: 3 });
    }
    default: {
      const record = fc.record(Object.fromEntries(Object.entries(of.fields).map(([name, one]) => [name, value(one)])));
      return of.kind === 'list' ? fc.array(record, { maxLength: 3 }) : fc.option(record, { freq: 6 });
    }
  }
}

const only = ([name, type]: readonly [string, Scalar]): fc.Arbitrary<Plain> =>
  scalar(type).map((one) => ({ ...Object.fromEntries(Object.keys(MEMBERS).map((key) => [key, null])), [name]: one }));

/** The type of a shape, and a value of it as SQL. */
function typeOf(of: Shape): SqlType {
  switch (of.kind) {
    case 'scalar':
      return { kind: of.type };
    case 'json':
      return { kind: 'JSON' };
    case 'pairs': {
      const members = Object.entries(MEMBERS).map(([name, kind]) => ({ name, type: { kind } }));
      const held: SqlType = of.value === 'any' ? { kind: 'STRUCT', fields: members } : { kind: of.value };
      const fields = [
        { name: 'key', type: { kind: 'STRING' } as const },
        { name: 'value', type: held },
      ];
      return { kind: 'ARRAY', element: { kind: 'STRUCT', fields } };
    }
    default: {
      const fields = Object.entries(of.fields).map(([name, one]) => ({ name, type: typeOf(one) }));
      const record: SqlType = { kind: 'STRUCT', fields };
      return of.kind === 'list' ? { kind: 'ARRAY', element: record } : record;
    }
  }
}

function written(type: SqlType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${written(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  return `STRUCT<${type.fields.map(({ name, type: of }) => `\`${name ?? ''}\` ${written(of)}`).join(', ')}>`;
}

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function literal(plain: Plain, type: SqlType): string {
  if (type.kind === 'JSON') return `PARSE_JSON(${quoted(JSON.stringify(plain))})`;
  if (plain === null) return 'NULL';
  if (Array.isArray(plain) && type.kind === 'ARRAY')
    return `${written(type)}[${plain.map((one: Plain) => literal(one, type.element)).join(', ')}]`;
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map(({ name, type: of }) =>
      literal((plain as Record<string, Plain>)[name ?? ''] ?? null, of),
    );
    return `${written(type)}(${fields.join(', ')})`;
  }
  return typeof plain === 'string' ? quoted(plain) : String(plain);
}

/** A path from a column, and what it is read as: a type, or whatever it is compared with. */
interface Way {
  readonly path: string;
  readonly names: readonly string[];
  readonly type: Scalar | 'any';
  readonly leaf: 'scalar' | 'json' | 'pairs';
}

const asNames = (key: string): readonly string[] => key.split('.');

function waysOf(name: string, of: Shape, before: readonly string[] = []): readonly Way[] {
  const names = [...before, name];
  const way = (rest: readonly string[], type: Way['type'], leaf: Way['leaf']): Way => {
    const all = [...names, ...rest];
    return { path: all.join('.'), names: all, type, leaf };
  };
  switch (of.kind) {
    case 'scalar':
      return [way([], of.type, 'scalar')];
    case 'json':
      return [...KEYS, 'k.http', 'http.k.status', 'k.http.status'].map((key) => way(asNames(key), 'any', 'json'));
    case 'pairs':
      return [
        ...KEYS.map((key) => way(asNames(key), of.value, 'pairs')),
        ...(of.value === 'any' ? [way(['http', 'status', 'i'], 'INT64', 'pairs')] : []),
      ];
    default:
      return Object.entries(of.fields).flatMap(([field, one]) => waysOf(field, one, names));
  }
}

/** What a path leads to in a row: once for each element of the lists on the way. */
function reached(
  row: Plain,
  [name = '', ...rest]: readonly string[],
  of: Readonly<Record<string, Shape>>,
  inner: boolean,
): readonly Plain[] {
  const shape = of[name];
  const plain = row === null ? null : ((row as Record<string, Plain>)[name] ?? null);
  if (shape === undefined) throw new Error(name);
  switch (shape.kind) {
    case 'scalar':
      return [plain];
    case 'json':
      return [inJson(plain, rest)];
    case 'pairs':
      return [inPairs(plain as readonly Plain[] | null, rest, shape.value)];
    case 'record':
      return reached(plain, rest, shape.fields, inner);
    case 'list': {
      const elements = (plain ?? []) as readonly Plain[];
      if (elements.length === 0) return inner ? [] : [null];
      return elements.flatMap((element) => reached(element, rest, shape.fields, inner));
    }
  }
}

/** Of nested keys, else of one with dots: the most nested that holds a scalar. */
function inJson(plain: Plain, keys: readonly string[]): Plain {
  for (let nested = keys.length - 1; nested >= 0; nested--) {
    const steps = [...keys.slice(0, nested), keys.slice(nested).join('.')];
    const found = steps.reduce<Plain>(
      (one, key) =>
        one !== null && typeof one === 'object' && Object.hasOwn(one, key)
          ? ((one as Record<string, Plain>)[key] ?? null)
          : null,
      plain,
    );
    if (found !== null && typeof found !== 'object') return found;
  }
  return null;
}

function inPairs(pairs: readonly Plain[] | null, keys: readonly string[], held: Scalar | 'any'): Plain {
  const member =
    held === 'any' && keys.length > 1 && Object.hasOwn(MEMBERS, keys.at(-1) ?? '') ? keys.at(-1) : undefined;
  const key = (member === undefined ? keys : keys.slice(0, -1)).join('.');
  const found =
    (pairs as readonly { key: string; value: Plain }[] | null)?.find((pair) => pair.key === key)?.value ?? null;
  if (held !== 'any' || found === null) return found;
  const members = found as Readonly<Record<string, Plain>>;
  if (member !== undefined) return members[member] ?? null;
  return Object.values(members).find((one) => one !== null) ?? null;
}

interface Test {
  readonly lql: string;
  /** Of a value; null: it has none of the type that it is compared as. */
  readonly holds: (value: Plain) => boolean | null;
}

const text = (plain: Plain): string | null => (plain === null ? null : String(plain));
const number = (plain: Plain): number | null =>
  typeof plain === 'boolean' || plain === null || String(plain).trim() === '' || Number.isNaN(Number(plain))
    ? null
    : Number(plain);

function testsOf({ type, leaf }: Way): readonly Test[] {
  const over =
    <T>(read: (plain: Plain) => T | null, test: (one: T) => boolean) =>
    (plain: Plain): boolean | null => {
      const one = read(plain);
      return one === null ? null : test(one);
    };
  const texts: readonly Test[] = [
    { lql: ':"xyz"', holds: over(text, (one) => one === 'xyz') },
    { lql: `:"it's"`, holds: over(text, (one) => one === "it's") },
    { lql: ':~"^x|5"', holds: over(text, (one) => /^x|5/.test(one)) },
  ];
  const numbers: readonly Test[] = [
    { lql: ':5', holds: over(number, (one) => one === 5) },
    { lql: ':>=0.5', holds: over(number, (one) => one >= 0.5) },
    { lql: ':-7..5', holds: over(number, (one) => one >= -7 && one <= 5) },
  ];
  const flag = (plain: Plain): boolean | null =>
    text(plain) === 'true' ? true : text(plain) === 'false' ? false : null;
  const flags: readonly Test[] = [{ lql: ':true', holds: over(flag, (one) => one) }];
  const missing: Test = { lql: ':NULL', holds: (plain) => plain === null };
  const own =
    type === 'STRING' ? texts : type === 'BOOL' ? flags : type === 'any' ? [...texts, ...numbers, ...flags] : numbers;
  // Objects in JSON are there, too.
  return leaf === 'json' ? own : [...own, missing];
}

export interface TypedQuery {
  readonly lql: string;
  readonly sql: string;
  readonly expected: readonly Row[];
}

/** Columns with rows, and queries over them with what they answer. */
export const typedQueries: fc.Arbitrary<readonly TypedQuery[]> = fc
  .dictionary(fc.constantFrom('x', 'y', 'Z'), shape(4), { minKeys: 1, maxKeys: 3 })
  .chain((shapes) => {
    const row = fc.record(Object.fromEntries(Object.entries(shapes).map(([name, one]) => [name, value(one)])));
    return fc.tuple(fc.array(row, { minLength: 3, maxLength: 6 }), fc.nat(), fc.nat()).map(([rows, pick, chosen]) => {
      const columns: NamedType[] = [
        { name: 'id', type: { kind: 'INT64' } },
        ...Object.entries(shapes).map(([name, one]) => ({ name, type: typeOf(one) })),
      ];
      const selects = rows.map((plain, id) => {
        const all = columns.map(
          ({ name, type }) => `${name === 'id' ? id : literal(plain[name] ?? null, type)} AS ${name}`,
        );
        return `SELECT ${id === 0 ? withTypes(columns, plain) : all.join(', ')}`;
      });
      const table = `WITH logs AS (${selects.join(' UNION ALL ')}) `;
      const ways = Object.entries(shapes).flatMap(([name, one]) => waysOf(name, one));
      const way = ways[pick % ways.length]!;
      const tests = testsOf(way);
      const test = tests[chosen % tests.length]!;
      const per = rows.map((plain, id) => ({
        id,
        values: reached(plain, way.names, shapes, true),
        all: reached(plain, way.names, shapes, false),
      }));
      const of = (lql: string, expected: readonly Row[]): TypedQuery => ({
        lql,
        sql: table + sqlOf(lql, columns),
        expected,
      });
      const ids = (keep: (plain: Plain) => boolean): readonly Row[] =>
        per.flatMap(({ id, values }) => values.filter(keep).map(() => ({ id })));
      const queries = [
        of(
          `s:id ${way.path}${test.lql}`,
          ids((plain) => test.holds(plain) === true),
        ),
        of(
          `s:id -${way.path}${test.lql}`,
          ids((plain) => test.holds(plain) !== true),
        ),
      ];
      if (way.leaf === 'json') return queries;
      const shown = (plain: Plain): Plain => (way.type === 'any' ? text(plain) : plain);
      return [
        ...queries,
        of(
          `s:id s:${way.path}@v`,
          per.flatMap(({ id, all }) => all.map((plain) => ({ id, v: shown(plain) }))),
        ),
      ];
    });
  });

/** The first row says the types of the columns. */
function withTypes(columns: readonly NamedType[], plain: Readonly<Record<string, Plain>>): string {
  return columns
    .map(({ name, type }) => {
      if (name === 'id') return '0 AS id';
      const sql = literal(plain[name] ?? null, type);
      return `${type.kind === 'ARRAY' || type.kind === 'JSON' ? sql : `CAST(${sql} AS ${written(type)})`} AS ${name}`;
    })
    .join(', ');
}

function sqlOf(lql: string, columns: readonly NamedType[]): string {
  const reading = readLql(lql, { tables: ['logs'], now: 0n, typed: true });
  if (reading.kind === 'blank') throw new Error('blank');
  return toSql(reading.rules, { name: 'logs', columns }).sql;
}

/** Runs generated queries on an engine. */
export async function checkTypedPaths(run: (sql: string) => Promise<readonly Row[]>, all: number): Promise<void> {
  const sorted = (rows: readonly Row[]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();
  await fc.assert(
    fc.asyncProperty(typedQueries, async (queries) => {
      for (const { lql, sql, expected } of queries) {
        const rows = await run(sql).catch((error: unknown) => [{ error: String(error) }]);
        expect({ lql, sql, rows: sorted(rows) }).toEqual({ lql, sql, rows: sorted(expected) });
      }
    }),
    runs(all),
  );
}
