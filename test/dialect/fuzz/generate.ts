/** Random typed expressions, made from the function table: every scalar function and operator that the gate admits. */
import { SCALARS as PRINTED } from '../../../packages/duckdb-engine/src/translate';
import { findFunction, functionNames, type SqlFunction } from '../../../packages/googlesql/src/functions/catalogue';
import { spread } from '../../../packages/googlesql/src/functions/match';
import { signatureOf, type Parameter, type Signature } from '../../../packages/googlesql/src/functions/signature';
import { isAllowedFunction } from '../../../packages/googlesql/src/consumer/functions';
import type { SqlType } from '../../../packages/googlesql/src/types';
import { CAST_TEXTS, PARTS, SPECIAL, VALUES } from './edge-values';
import type { Random } from '../random';
import { CASTS, OPERATORS, SLOW_DECIMALS, written } from './written-calls';
import { call, column, literal, type Expression } from './expression';

/** Their value is nobody's to know beforehand, or they cannot be compared on the reference. */
const LEFT_OUT = new Set(['ERROR', 'SESSION_USER', 'RAND', 'GENERATE_UUID', '$extract']);
/** What the embedded engine has not is refused by name. */
const EMBEDDED = new Set(Object.entries(PRINTED).flatMap(([name, row]) => ('instead' in row ? [] : [name])));

function isAllowed(name: string): boolean {
  const parts = name.split('.').map((part) => ({ name: part, quoted: false, span: { start: 0, end: 0 } }));
  return isAllowedFunction(parts);
}

/** Names of all scalar functions and operators that are called. */
export const SCALARS: readonly string[] = [...functionNames().filter(isAllowed), ...OPERATORS].filter((name) => {
  const fn = findFunction(name);
  return (
    fn?.mode === 'scalar' &&
    fn.signatures.length > 0 &&
    EMBEDDED.has(fn.name) &&
    !LEFT_OUT.has(fn.name) &&
    !LEFT_OUT.has(name)
  );
});

/** Types that a template is bound to. */
const ELEMENTS = [
  ...['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP', 'DATE', 'BYTES', 'NUMERIC', 'DATETIME', 'TIME', 'INTERVAL'],
];
/** Types of expressions. */
export const TYPES: readonly string[] = Object.keys(VALUES);

const INTERVAL_PARTS = 'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND'.split(' ');

/**
 * What is no call of a function, as `type: text`. `{a|b}` is one of both; `«type»` is an expression of it, `«type: a, b»` one of these
 * values. E and F are any types, C and D any but INTERVAL, N one that there are arrays of, M one that is counted with.
 */
const FORMS: Readonly<Record<string, string>> = {
  CASE: 'E: CASE WHEN «BOOL» THEN «E» ELSE «E» END',
  ELEMENT: 'N: «ARRAY<N>»[{OFFSET(#)|ORDINAL(#)|SAFE_OFFSET(#)|SAFE_ORDINAL(#)|#}]',
  JSON_ELEMENT: "JSON: «JSON»[{«INT64: 0, 1, -1, 5»|«STRING: 'a', 'c', 'e e', '0', ''»}]",
  ARRAY: 'ARRAY<N>: [«N»{|, «N»|, «N», «N»}]',
  ARRAY_SUBQUERY:
    'ARRAY<N>: ARRAY(SELECT e FROM UNNEST(«ARRAY<N>») AS e WITH OFFSET AS o {|WHERE o > 0 |WHERE e IS NOT NULL |WHERE MOD(o, 2) = 0 }ORDER BY {o|o DESC|e, o|e DESC, o}{| LIMIT 2| LIMIT 1 OFFSET 1})',
  SCALAR_SUBQUERY:
    'M: (SELECT {SUM(e)|COUNT(e)|MAX(e)|MIN(e)|AVG(e)|COUNT(DISTINCT e)|COUNT(*)|SUM(e * o)|MAX(o)} FROM UNNEST(«ARRAY<M>») AS e WITH OFFSET AS o)',
  EXISTS: 'BOOL: EXISTS(SELECT 1 FROM UNNEST(«ARRAY<STRING>») AS e WHERE e = «STRING»)',
  STRUCT_FIELD: 'E: STRUCT(«E» AS x, «F» AS y).x',
  'IS NULL': 'BOOL: («E») IS NULL',
  'IS NOT NULL': 'BOOL: («E») IS NOT NULL',
  INTERVAL: `INTERVAL: INTERVAL «INT64: 0, 1, -1, 13, 400, -90061, 100000» {${INTERVAL_PARTS.join('|')}}`,
  'NOT IN': 'BOOL: «C» NOT IN («C», «C»)',
  'IN (SELECT)': 'BOOL: «N» {IN|NOT IN} (SELECT e FROM UNNEST(«ARRAY<N>») AS e)',
};
const OTHERS = ['CAST', 'EXTRACT', 'STRUCT_COMPARED', 'SAFE'];

/** What the generator begins an expression with; each is taken once a round so that none is left out. */
export const STARTS: readonly string[] = [...SCALARS, ...Object.keys(FORMS), ...OTHERS];

export class Generator {
  /** @param rows how many values a column has */
  constructor(
    private readonly random: Random,
    private readonly rows: number,
  ) {}

  /** An expression whose outermost call is `start`; null where it has no signature that can be written. */
  startingWith(start: string, depth = 1): Expression | null {
    const form = FORMS[start];
    if (form !== undefined) return this.formed(start, form, depth);
    return OTHERS.includes(start) ? this.construct(start, depth) : this.callOf(start, null, depth);
  }

  /** An expression of that type. */
  ofType(type: string, depth: number): Expression {
    const { random } = this;
    if (depth > 0 && random.chance(0.45)) {
      const names = RESULTS.get(type) ?? [];
      if (names.length > 0 && random.chance(0.75)) {
        const built = this.callOf(random.pick(names), type, depth - 1);
        if (built !== null) return built;
      }
      const casts = CASTS.filter(([, to]) => to === type);
      if (casts.length > 0 && random.chance(0.5)) return this.cast(random.pick(casts), depth - 1);
      if (type !== 'JSON' && random.chance(0.5)) return this.caseOf(type, depth - 1);
    }
    return this.value(type, VALUES[type] ?? []);
  }

  /** A literal or a column of the type, or NULL. */
  value(type: string, texts: readonly string[], constant = false): Expression {
    const { random } = this;
    const one = (): string =>
      random.chance(0.05) || texts.length === 0 ? `CAST(NULL AS ${type})` : random.pick(texts);
    if (constant || random.chance(0.3)) return literal(type, one());
    return column(type, Array.from({ length: this.rows }, one));
  }

  /** Arguments of an aggregate or window function; its constants are among `constants`. */
  argumentsOf(fn: SqlFunction, depth: number, constants: readonly string[]): Expression[] | null {
    const signature = this.signature(fn, null);
    if (signature === null) return null;
    const element = templateOf(signature, null) ?? this.random.pick(ELEMENTS);
    const counts = Array.from({ length: signature.parameters.length + 2 }, (_, i) => spread(signature, i)).filter(
      (list) => list !== null,
    );
    if (counts.length === 0) return null;
    return this.random.pick(counts).map((parameter, i) => {
      if (fn.constant?.at !== i) return this.ofType(typeText(parameter, element), depth);
      const type = typeText(parameter, element);
      return this.value(type, constants.length > 0 ? constants : (VALUES[type] ?? []), true);
    });
  }

  private callOf(name: string, result: string | null, depth: number): Expression | null {
    const { random } = this;
    const fn = findFunction(name);
    if (fn === undefined) throw new Error(`No function ${name}.`);
    const signature = this.signature(fn, result);
    if (signature === null) return null;
    const element = templateOf(signature, result) ?? random.pick(ELEMENTS);
    const counts = Array.from({ length: signature.parameters.length + 3 }, (_, i) => spread(signature, i)).filter(
      (list) => list !== null,
    );
    if (counts.length === 0) return null;
    const parameters = random.pick(counts);
    let first: string | null = null;
    const args = parameters.map((parameter, i) => {
      const argument = this.argument(fn, parameter, i, element, first, depth);
      if (parameter.pattern.kind !== 'part') first ??= argument.type;
      return argument;
    });
    const namedOnly = signature.parameters.filter((parameter) => parameter.namedOnly && random.chance(0.3));
    for (const parameter of namedOnly) {
      const type = typeText(parameter, element);
      const special = NAMED[parameter.name ?? ''];
      args.push(
        call(
          type,
          'named',
          [this.value(type, special ?? VALUES[type] ?? [], true)],
          ([value]) => `${parameter.name} => ${value}`,
        ),
      );
    }
    const type = resultText(signature, element, args);
    const safe = !name.startsWith('$') && random.chance(0.12) ? 'SAFE.' : '';
    return call(type, name, args, (texts) => safe + written(name, texts));
  }

  private signature(fn: SqlFunction, result: string | null): Signature | null {
    const fitting = fn.signatures
      .filter((text) => !SLOW_DECIMALS.has(fn.name) || !text.includes('NUMERIC'))
      .map(signatureOf)
      .filter((signature) => result === null || canResultIn(signature, result));
    return fitting.length === 0 ? null : this.random.pick(fitting);
  }

  private argument(
    fn: SqlFunction,
    parameter: Parameter,
    i: number,
    element: string,
    first: string | null,
    depth: number,
  ): Expression {
    const { random } = this;
    const special = SPECIAL[fn.name]?.[i] ?? null;
    switch (parameter.pattern.kind) {
      case 'part':
        return literal('PART', this.part(special?.texts ?? PARTS[first ?? 'TIMESTAMP'] ?? PARTS['TIMESTAMP']!));
      case 'mode':
        return literal('MODE', random.pick(special?.texts ?? ['NFC', 'NFKC', 'NFD', 'NFKD']));
      case 'rounding':
        return literal('ROUNDING', random.pick([`'ROUND_HALF_EVEN'`, `'ROUND_HALF_AWAY_FROM_ZERO'`]));
      default:
    }
    const type = typeText(parameter, element);
    const texts = special?.texts.flatMap((text) => adapted(text, type)) ?? [];
    const constant = special?.constant === true && random.chance(0.7);
    if (texts.length > 0 && random.chance(0.85)) return this.value(type, texts, constant);
    return constant ? this.value(type, VALUES[type] ?? [], true) : this.ofType(type, depth);
  }

  private part(parts: readonly string[]): string {
    return this.random.chance(0.08) ? this.random.pick(ALL_PARTS) : this.random.pick(parts);
  }

  private cast([from, to]: readonly [string, string], depth: number): Expression {
    const { random } = this;
    const name = random.chance(0.5) ? 'CAST' : 'SAFE_CAST';
    const texts = from === 'STRING' && random.chance(0.7) ? CAST_TEXTS : null;
    const input = texts === null ? this.ofType(from, depth) : this.value(from, texts);
    const parameters = random.chance(0.2) ? random.pick(TYPE_PARAMETERS[to] ?? ['']) : '';
    return call(to, name, [input], ([x]) => `${name}(${x} AS ${to}${parameters})`);
  }

  private caseOf(type: string, depth: number): Expression {
    const [when, then, otherwise] = [this.ofType('BOOL', depth), this.ofType(type, depth), this.ofType(type, depth)];
    return call(type, 'CASE', [when, then, otherwise], ([a, b, c]) => `CASE WHEN ${a} THEN ${b} ELSE ${c} END`);
  }

  private formed(name: string, form: string, depth: number): Expression {
    const { random } = this;
    const bare = ELEMENTS.filter((type) => type !== 'INTERVAL');
    const counted = ['INT64', 'FLOAT64'];
    const types = Object.entries({ E: ELEMENTS, F: ELEMENTS, C: bare, N: [...ARRAY_ELEMENTS], M: counted }).map(
      ([letter, choice]) => [new RegExp(`\\b${letter}\\b(?=[>»:])`, 'g'), random.pick(choice)] as const,
    );
    const [type = '', text = ''] = types
      .reduce((written, [letter, chosen]) => written.replace(letter, chosen), form)
      .replaceAll(/\{([^}]*)\}/g, (_, choice: string) => random.pick(choice.split('|')))
      .replace('#', '«INT64: 0, 1, 2, -1, 3, 100»')
      .split(/: (.*)/s);
    const parts = text.split(/«(.*?)»/);
    const args = parts
      .filter((_, i) => i % 2 === 1)
      .map((hole) => {
        const [of = '', values] = hole.split(': ');
        return values === undefined ? this.ofType(of, depth) : this.value(of, values.split(', '));
      });
    return call(type, name, args, (texts) =>
      parts.map((part, i) => (i % 2 === 1 ? texts[(i - 1) / 2] : part)).join(''),
    );
  }

  private construct(kind: string, depth: number): Expression | null {
    const { random } = this;
    if (kind === 'CAST') return this.cast(random.pick(CASTS), depth);
    if (kind === 'SAFE') {
      const name = random.pick(SCALARS.filter((scalar) => !scalar.startsWith('$')));
      const built = this.callOf(name, null, depth);
      return built === null ? null : { ...built, write: (texts) => `SAFE.${written(name, texts)}` };
    }
    if (kind === 'EXTRACT') {
      const type = random.pick(['DATE', 'TIMESTAMP', 'DATETIME', 'TIME', 'INTERVAL']);
      const part = this.part(EXTRACTED[type] ?? PARTS['TIMESTAMP']!);
      const zones = type === 'TIMESTAMP' && random.chance(0.7) ? SPECIAL['CURRENT_DATE']![0]!.texts : [];
      const args = [this.ofType(type, depth), ...(zones.length > 0 ? [this.value('STRING', zones)] : [])];
      return call('INT64', `EXTRACT ${part}`, args, (texts) => `EXTRACT(${part} FROM ${texts.join(' AT TIME ZONE ')})`);
    }
    const types = [random.pick(ELEMENTS), random.pick(ELEMENTS)].filter((type) => type !== 'INTERVAL');
    const args = [...types, ...types].map((type) => this.ofType(type, depth));
    const operator = random.pick(Object.keys(COMPARISONS));
    return call('BOOL', `STRUCT ${operator}`, args, (texts) => {
      const side = (from: number): string => `STRUCT(${texts.slice(from, from + types.length).join(', ')})`;
      return COMPARISONS[operator]!(side(0), side(types.length));
    });
  }
}

const TYPE_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['(3)', '(10)', '(MAX)'],
  BYTES: ['(3)', '(10)'],
  NUMERIC: ['(4, 1)', '(3)', '(29)', '(38, 9)'],
};

/** Where two values are compared: a NULL or NaN inside of one is unknown, or equal to nothing. */
const COMPARISONS: Readonly<Record<string, (a: string, b: string) => string>> = {
  '=': (a, b) => `${a} = ${b}`,
  '!=': (a, b) => `${a} != ${b}`,
  IN: (a, b) => `${a} IN (${b})`,
  'IN UNNEST': (a, b) => `${a} IN UNNEST([${b}, ${a}])`,
  'IN (SELECT)': (a, b) => `${a} IN (SELECT x FROM UNNEST([${b}]) AS x)`,
  NULLIF: (a, b) => `NULLIF(${a}, ${b}) IS NULL`,
  CASE: (a, b) => `CASE ${a} WHEN ${b} THEN TRUE ELSE FALSE END`,
  arrays: (a, b) => `[${a}] = [${b}]`,
  nested: (a, b) => `STRUCT([${a}]) = STRUCT([${b}])`,
};

const ALL_PARTS = [...INTERVAL_PARTS, 'ISOWEEK', 'ISOYEAR', 'WEEK(SUNDAY)', 'DAYOFWEEK', 'DAYOFYEAR', 'DATE', 'TIME'];
const EXTRACTED: Readonly<Record<string, readonly string[]>> = {
  DATE: [...PARTS['DATE']!, 'DAYOFWEEK', 'DAYOFYEAR'],
  DATETIME: [...PARTS['DATETIME']!, 'DAYOFWEEK', 'DAYOFYEAR', 'DATE', 'TIME'],
  TIMESTAMP: [...PARTS['TIMESTAMP']!, 'DAYOFWEEK', 'DAYOFYEAR', 'DATE', 'TIME', 'DATETIME'],
  TIME: PARTS['TIME']!,
  INTERVAL: ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND'],
};

/** What arguments that are given by name are. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  wide_number_mode: [`'exact'`, `'round'`, `'ROUND'`],
  json_scope: [`'JSON_VALUES'`, `'JSON_KEYS'`, `'JSON_KEYS_AND_VALUES'`],
  mode: [`'strict'`, `'lax'`, `'lax recursive'`],
  max_distance: ['0', '1', '2', '10'],
};

/** A special text as an argument of the type; none where it is of another. */
function adapted(text: string, type: string): string[] {
  const own = text.startsWith("'")
    ? 'STRING'
    : text.startsWith("b'")
      ? 'BYTES'
      : /^-?\d+$/.test(text)
        ? 'INT64'
        : /^([A-Z]+) ['\-\d]/.exec(text)?.[1];
  if (own === type) return [text];
  return own === 'STRING' && type === 'BYTES' && !/[^\x20-\x7e]/.test(text) ? [`b${text}`] : [];
}

function typeText({ pattern }: Parameter, element: string): string {
  switch (pattern.kind) {
    case 'fixed':
      return nameOf(pattern.type);
    case 'array_template':
      return ARRAY_ELEMENTS.has(element) ? `ARRAY<${element}>` : 'ARRAY<INT64>';
    default:
      return element;
  }
}

const ARRAY_ELEMENTS = new Set(['INT64', 'STRING', 'FLOAT64']);

function nameOf(type: SqlType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${nameOf(type.element)}>`;
  return type.kind === 'STRUCT' ? 'STRUCT' : type.kind;
}

/** The type of templates where a result of that type is wanted. */
function templateOf(signature: Signature, result: string | null): string | null {
  if (result === null) {
    return signature.parameters.some(({ pattern }) => pattern.kind === 'array_template') ? 'INT64' : null;
  }
  if (signature.result.kind === 'template') return result;
  return signature.result.kind === 'array_template' ? result.slice('ARRAY<'.length, -1) : null;
}

function canResultIn({ result, parameters }: Signature, type: string): boolean {
  switch (result.kind) {
    case 'fixed':
      return nameOf(result.type) === type;
    case 'template':
      // Of an array's elements: only of those there are arrays of.
      return (
        !type.startsWith('ARRAY<') &&
        (ARRAY_ELEMENTS.has(type) || !parameters.some(({ pattern }) => pattern.kind === 'array_template'))
      );
    case 'array_template':
      return ['ARRAY<INT64>', 'ARRAY<STRING>', 'ARRAY<FLOAT64>'].includes(type);
    default:
      return false;
  }
}

function resultText({ result }: Signature, element: string, args: readonly Expression[]): string {
  switch (result.kind) {
    case 'fixed':
      return nameOf(result.type);
    case 'template':
      return element;
    case 'array_template':
      return args.find((arg) => arg.type.startsWith('ARRAY<'))?.type ?? `ARRAY<${element}>`;
    default:
      return 'STRING';
  }
}

const RESULTS: ReadonlyMap<string, readonly string[]> = new Map(
  TYPES.map((type) => [
    type,
    SCALARS.filter((name) => findFunction(name)?.signatures.some((text) => canResultIn(signatureOf(text), type))),
  ]),
);
