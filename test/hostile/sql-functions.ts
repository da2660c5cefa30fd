/**
 * Hostile calls of everything that a query may call: every function and operator that the embedded engine has a translation
 * for, aggregates and windows, with arguments that make the most of little, alone and one within the other.
 */
import { supportedFunctions } from '../../src/engines/duckdb/translate';
import { findFunction, type SqlFunction } from '../../src/googlesql/functions/catalogue';
import { spread } from '../../src/googlesql/functions/match';
import { signatureOf, type Parameter, type Pattern } from '../../src/googlesql/functions/signature';
import type { SqlType } from '../../src/googlesql/types';
import { PARTS } from '../dialect/fuzz/edge-values';
import type { Random } from '../dialect/random';
import { written } from '../dialect/fuzz/written-calls';
import { ARGUMENTS, LARGE_COLUMNS, WRITTEN_ARGUMENTS } from './arguments';

export interface HostileQuery {
  /** The function, or what the query is an example of. */
  readonly name: string;
  readonly sql: string;
}

const ANY_TYPES = ['STRING', 'STRING', 'INT64', 'ARRAY<INT64>', 'FLOAT64', 'TIMESTAMP', 'DATE', 'BYTES'];
const WITHOUT_ARRAYS = ANY_TYPES.filter((type) => !type.startsWith('ARRAY'));
const CAST_TYPES = ['STRING', 'BYTES', 'INT64', 'FLOAT64', 'NUMERIC', 'BOOL', 'DATE', 'DATETIME', 'TIMESTAMP', 'TIME'];

const { scalar, aggregate } = supportedFunctions();
/** Written in a form of their own, or of no argument worth the while. */
const LEFT_OUT = new Set([
  'ERROR',
  '$extract',
  '$interval',
  '$at',
  '$safe_at',
  '$json_member',
  '$json_element',
  '$is_null',
]);
const SCALARS = scalar.filter((name) => !LEFT_OUT.has(name) && findFunction(name) !== undefined);
const AGGREGATES = aggregate.filter((name) => name !== 'COUNT_STAR' && name !== 'GROUPING');

/** What every function is called with at least once, and `ofEach` times at random. */
export function* hostileQueries(random: Random, ofEach: number): Generator<HostileQuery> {
  for (const name of SCALARS) for (let i = 0; i < ofEach; i++) yield scalarQuery(name, random);
  for (const name of AGGREGATES) for (let i = 0; i < ofEach; i++) yield aggregateQuery(name, random);
  for (let i = 0; i < 4 * ofEach; i++) yield castQuery(random);
}

/** Without end. */
export function* randomHostileQueries(random: Random): Generator<HostileQuery> {
  for (;;) {
    const at = random.int(10);
    if (at < 6) yield scalarQuery(random.pick(SCALARS), random);
    else if (at < 9) yield aggregateQuery(random.pick(AGGREGATES), random);
    else yield castQuery(random);
  }
}

interface Scope {
  readonly constant: boolean;
  readonly random: Random;
  /** Calls within calls that are left. */
  readonly depth: number;
}

function scalarQuery(name: string, random: Random): HostileQuery {
  const constant = random.chance(0.2);
  const call = callOf(name, { constant, random, depth: random.chance(0.3) ? 1 : 0 });
  return { name, sql: around(call, constant, random) };
}

function castQuery(random: Random): HostileQuery {
  const constant = random.chance(0.2);
  const [from, to] = [random.pick(['STRING', 'STRING', 'BYTES', 'FLOAT64', 'TIMESTAMP']), random.pick(CAST_TYPES)];
  const value = argument(from, { constant, random, depth: 1 });
  return { name: 'CAST', sql: around(`${random.pick(['CAST', 'SAFE_CAST'])}(${value} AS ${to})`, constant, random) };
}

/** A query for a value: of one row, or of many whose results are looked at or given back. */
function around(value: string, constant: boolean, random: Random): string {
  if (constant) return `SELECT ${value} AS v`;
  const rows = `FROM t, ${LARGE_COLUMNS}`;
  return random.chance(0.75) ? `SELECT COUNTIF((${value}) IS NULL) AS v ${rows}` : `SELECT ${value} AS v ${rows}`;
}

const FRAMES = [
  '',
  'ROWS BETWEEN 9223372036854775807 PRECEDING AND CURRENT ROW',
  'ROWS BETWEEN 1000000 PRECEDING AND 1000000 FOLLOWING',
  'ROWS BETWEEN 9223372036854775807 PRECEDING AND 9223372036854775807 FOLLOWING',
  'RANGE BETWEEN 1000 PRECEDING AND 1000 FOLLOWING',
];

function aggregateQuery(name: string, random: Random): HostileQuery {
  const fn = functionOf(name);
  const many = random.chance(0.4);
  const scope = { constant: false, random, depth: 0 };
  const call = many ? ofNumbers(fn, random) : callOf(name, scope);
  const rows = many ? `FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS i` : `FROM t, ${LARGE_COLUMNS}`;
  const open = call.slice(0, -1);
  const windowed = fn.over === 'required' || (fn.over !== undefined && fn.over !== 'unsupported' && random.chance(0.4));
  if (windowed) {
    const frame = fn.framing === true ? random.pick(FRAMES) : '';
    const partition = random.chance(0.3) ? 'PARTITION BY MOD(i, 7) ' : '';
    const window = `${open}) OVER (${partition}ORDER BY i ${frame})`;
    return { name, sql: `SELECT COUNTIF(v IS NULL) AS v FROM (SELECT ${window} AS v ${rows})` };
  }
  const distinct = fn.orderBy !== true && random.chance(0.2) ? open.replace('(', '(DISTINCT ') : open;
  const order = fn.orderBy === true && random.chance(0.5) ? ` ORDER BY ${random.pick(['-i', 'MOD(i, 1000)'])}` : '';
  const limit = fn.limit === true && random.chance(0.2) ? ` LIMIT ${random.pick(['1', '9223372036854775807'])}` : '';
  const groups = random.pick(['', '', ' GROUP BY MOD(i, 100)', ' GROUP BY i']);
  return { name, sql: `SELECT ${distinct}${order}${limit}) AS v ${rows}${groups}` };
}

/** An aggregate over the numbers of a generated array. */
function ofNumbers(fn: SqlFunction, random: Random): string {
  const text = fn.signatures.find((s) => /^(?:INT64|T1|FLOAT64)\b/.test(s)) ?? fn.signatures[0]!;
  const parameters = spread(signatureOf(text), signatureOf(text).parameters.length) ?? [];
  const args = parameters.map((parameter, at) => {
    const special = WRITTEN_ARGUMENTS[fn.name]?.[at];
    if (special !== undefined) return random.pick(special);
    const type = typeText(parameter.pattern, 'INT64');
    if (type === 'STRING') return 'CAST(i AS STRING)';
    if (type === 'ARRAY<INT64>') return '[i]';
    if (type === 'BOOL') return 'MOD(i, 2) = 0';
    return type === 'INT64' ? 'i' : `CAST(i AS ${type})`;
  });
  return `${fn.name}(${args.join(', ')})`;
}

function functionOf(name: string): SqlFunction {
  const fn = findFunction(name);
  if (fn === undefined) throw new Error(`No function ${name}.`);
  return fn;
}

function callOf(name: string, scope: Scope): string {
  const { random } = scope;
  const fn = functionOf(name);
  const parameters = parametersOf(fn, random);
  const template = random.pick(name.startsWith('$') || fn.mode !== 'scalar' ? WITHOUT_ARRAYS : ANY_TYPES);
  let first: string | null = null;
  const args = parameters.map(({ pattern }, at) => {
    if (pattern.kind === 'part') return random.pick(PARTS[first ?? 'TIMESTAMP'] ?? PARTS['TIMESTAMP']!);
    if (pattern.kind === 'mode') return 'NFC';
    if (pattern.kind === 'rounding') return `'ROUND_HALF_AWAY_FROM_ZERO'`;
    const type = typeText(pattern, template);
    first ??= type;
    const special = type.startsWith('BYTES') ? undefined : WRITTEN_ARGUMENTS[name]?.[at];
    if (special === undefined) return argument(type, scope);
    return random.pick(
      scope.constant ? special.filter((text) => !/\b[sm]\b(?!')/.test(text.replace(/'[^']*'/g, ''))) : special,
    );
  });
  return written(name, args);
}

function parametersOf(fn: SqlFunction, random: Random): Parameter[] {
  const signature = signatureOf(random.pick(fn.signatures));
  const most = signature.parameters.filter((parameter) => !parameter.namedOnly).length + 2;
  const lists = Array.from({ length: most + 1 }, (_, i) => spread(signature, i)).filter((p) => p !== null);
  return random.pick(lists).filter((parameter) => !parameter.namedOnly);
}

function argument(type: string, scope: Scope): string {
  const { constant, random, depth } = scope;
  const known = ARGUMENTS[type];
  if (known === undefined) return `CAST(NULL AS ${type})`;
  if (depth > 0 && random.chance(0.7)) {
    const makers = RETURNING[type] ?? [];
    if (makers.length > 0) return callOf(random.pick(makers), { ...scope, depth: depth - 1 });
  }
  const values = constant || random.chance(0.25) ? known.constant : known.ofRow;
  return random.pick(values);
}

function typeText(pattern: Pattern, template: string): string {
  switch (pattern.kind) {
    case 'fixed':
      return nameOf(pattern.type);
    case 'array_template':
      return 'ARRAY<INT64>';
    default:
      return template;
  }
}

function nameOf(type: SqlType): string {
  return type.kind === 'ARRAY' ? `ARRAY<${nameOf(type.element)}>` : type.kind;
}

/** The scalar functions by a type that each of their calls gives back. */
const RETURNING: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.keys(ARGUMENTS).map((type) => [
    type,
    SCALARS.filter((name) =>
      functionOf(name).signatures.every((text) => {
        const { result } = signatureOf(text);
        return result.kind === 'fixed' && nameOf(result.type) === type;
      }),
    ),
  ]),
);
