/**
 * Queries whose names are drawn from the columns themselves: aliases called like their own column, like another one or like the
 * table, keys by alias, place and expression, and all of these in what is read after grouping.
 */
import type { Random } from '../random';
import type { Query } from './query';

const COLUMNS = ['k', 'v', 'w'];
/** Those, a record of two of them, and the table. */
const NAMES = [...COLUMNS, 'm', 't'];

/** Each row's `k, v, w`; `m` has `k` and `v` the other way round. */
const VALUES = [
  ['1', '5', '2'],
  ['1', '7', '2'],
  ['2', '5', 'NULL'],
  ['2', '1', '3'],
  ['NULL', '2', '1'],
  ['3', 'NULL', '1'],
] as const;

function table(rows: readonly number[], alias: string): string {
  const structs = rows.map((id) => {
    const [k, v, w] = VALUES[id % VALUES.length]!;
    return `(${k}, ${v}, ${w}, (${v}, ${k}))`;
  });
  const type = 'ARRAY<STRUCT<k INT64, v INT64, w INT64, m STRUCT<k INT64, v INT64>>>';
  return `(SELECT * FROM UNNEST(${type}[${structs.join(', ')}])) AS ${alias}`;
}

const isPath = (text: string): boolean => /^[\w.]+$/.test(text);

/** A select list in which no two columns have one name. */
class List {
  readonly items: string[] = [];
  readonly #left = new Set(NAMES);

  constructor(private readonly random: Random) {}

  /** Adds a column: under its own name where it has one that is still free, or under any. Returns the name. */
  add(expression: string): string {
    const own = expression.slice(expression.lastIndexOf('.') + 1);
    const isBare = isPath(expression) && this.#left.has(own) && this.random.chance(0.5);
    const name = isBare ? own : this.random.pick([...this.#left]);
    this.#left.delete(name);
    this.items.push(isBare ? expression : `${expression} AS ${name}`);
    return name;
  }
}

class Expressions {
  /** What stands after grouping is mostly made of these. */
  readonly keys: string[] = [];

  constructor(
    private readonly random: Random,
    private readonly alias: string,
    /** Names of the rows around the query. */
    private readonly around: readonly string[],
  ) {}

  path(): string {
    const { random, alias, around } = this;
    if (around.length > 0 && random.chance(0.1)) return random.pick(around);
    if (random.chance(0.1)) return `${alias}.${random.pick(COLUMNS)}`;
    if (random.chance(0.1)) return `m.${random.pick(['k', 'v'])}`;
    return random.pick(random.chance(0.97) ? COLUMNS : NAMES);
  }

  value(): string {
    const path = (): string => this.path();
    const written = [`${path()} + ${path()}`, `MOD(${path()}, 2)`, `IF(${path()} > 1, ${path()}, 9)`];
    return this.random.pick([...written, path(), path(), path()]);
  }

  aggregate(): string {
    const value = this.value();
    const plain = `${this.random.pick(['SUM', 'MAX', 'MIN', 'COUNT'])}(${value})`;
    const others = [
      `COUNTIF(${value} > 1)`,
      `COUNT(DISTINCT ${value})`,
      'COUNT(*)',
      `ARRAY_LENGTH(ARRAY_AGG(${value}))`,
    ];
    return this.random.pick([...others, `SUM(${value} HAVING MAX ${this.value()})`, plain, plain, plain]);
  }

  key(): string {
    return this.keys.length > 0 && this.random.chance(0.9) ? this.random.pick(this.keys) : this.path();
  }

  grouped(): string {
    const [name, aggregate] = [this.random.pick(NAMES), this.aggregate()];
    const subquery = `(SELECT MAX(${name}) FROM UNNEST([1, ${this.key()}]) AS ${name})`;
    return this.random.pick([this.key(), `${aggregate} + ${this.key()}`, subquery, aggregate, aggregate, aggregate]);
  }

  /** @param name of the window */
  window(name: string | null = null): string {
    const { random } = this;
    const call = random.chance(0.5) ? 'RANK()' : `SUM(${this.grouped()})`;
    if (name !== null) return `${call} OVER ${name}`;
    const partition = random.chance(0.4) ? `PARTITION BY ${this.key()} ` : '';
    return `${call} OVER (${partition}ORDER BY ${random.chance(0.5) ? this.aggregate() : this.key()})`;
  }
}

/** A SELECT with groups. @param from what stands after FROM */
function select(random: Random, expressions: Expressions, from: string): string {
  const list = new List(random);
  const keys: string[] = [];
  const has = { having: random.chance(0.5), qualify: random.chance(0.2), order: random.chance(0.5) };
  const later = has.having || has.qualify || has.order;
  const names: string[] = [];
  for (let i = random.int(2); i >= 0; i--) {
    const key = expressions.value();
    const name = list.add(key);
    names.push(name);
    // Where anything stands behind GROUP BY, the reference knows few keys by their expressions.
    keys.push(
      random.pick([name, `${list.items.length}`, ...(isPath(key) || !later || random.chance(0.1) ? [key] : [])]),
    );
  }
  expressions.keys.push(...keys.filter((key) => isPath(key) && !/^\d/.test(key)));
  const window = has.qualify && random.chance(0.4) ? 'z' : null;
  const windowText = window === null ? '' : ` WINDOW z AS (ORDER BY ${expressions.grouped()})`;
  for (let i = random.int(3); i > 0; i--) list.add(expressions.aggregate());
  if (random.chance(0.2)) list.add(expressions.window(random.chance(0.7) ? window : null));
  expressions.keys.push(...names);
  let text = `${random.chance(0.1) ? 'SELECT DISTINCT' : 'SELECT'} ${list.items.join(', ')} FROM ${from}`;
  if (random.chance(0.2)) text += ` WHERE ${expressions.path()} > 0`;
  text += ` GROUP BY ${keys.join(', ')}`;
  if (has.having)
    text += ` HAVING ${expressions.grouped()} ${random.pick(['>=', '!='])} ${random.pick(['1', expressions.grouped()])}`;
  if (has.qualify) text += ` QUALIFY ${expressions.window(window)} > ${random.pick(['0', '1', expressions.grouped()])}`;
  text += windowText;
  if (has.order) {
    // In a window there, the reference takes the first name of a path for no alias.
    const over = expressions.window().replaceAll(/\b\w+\.(?=\w)/g, '');
    const first = random.chance(0.2) ? over : expressions.grouped();
    text += ` ORDER BY ${first}${random.pick(['', ' DESC'])}, ${list.items.map((_, i) => i + 1).join(', ')}`;
  }
  return text;
}

function pipes(random: Random, expressions: Expressions, from: string): string {
  const before = [
    '',
    ` |> EXTEND ${expressions.value()} AS ${random.pick(NAMES)}`,
    ` |> SET ${random.pick(COLUMNS)} = ${expressions.value()}`,
    ` |> RENAME k AS v, v AS k`,
  ];
  const list = new List(random);
  const keys = Array.from({ length: random.int(3) }, () => list.add(expressions.value()));
  const groups = list.items.splice(0);
  for (let i = random.int(2); i >= 0; i--) list.add(expressions.aggregate());
  expressions.keys.push(...keys);
  const by = groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`;
  const after = random.chance(0.5) ? ` |> WHERE ${expressions.key()} > 1` : '';
  return `FROM ${from}${random.pick(before)} |> AGGREGATE ${list.items.join(', ')}${by}${after}`;
}

/** Lists that are joined by what may be called like them and like each other. */
function using(random: Random): string {
  const names = ['a', 'b', 'pos'];
  const side = (): string => {
    const [list, element, offset] = [random.pick(['1, 2', '2, 1', '3']), random.pick(names), random.pick(names)];
    return `UNNEST([${list}]) AS ${element}${element === offset ? '' : ` WITH OFFSET AS ${offset}`}`;
  };
  const join = random.pick(['JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);
  const by = [random.pick(names), ...(random.chance(0.4) ? [random.pick(names)] : [])];
  const third = random.chance(0.3) ? ` JOIN ${side()} USING (${random.pick(names)})` : '';
  // A star over three lists may have two columns of one name.
  const shown = random.pick([
    third === '' ? '*' : by[0]!,
    by[0]!,
    `MAX(${random.pick(names)}) AS a, MIN(${random.pick(names)}) AS pos`,
  ]);
  return `SELECT ${shown} FROM ${side()} ${join} ${side()} USING (${by.join(', ')})${third}`;
}

/** For each of them to be taken once a round. */
export const NAME_KINDS = [
  ...['names', 'names of a CTE', 'names of a subquery', 'names of pipes', 'names of USING'],
] as const;

export function namesOf(kind: string, random: Random): Query {
  const alias = random.chance(0.7) ? 't' : random.pick(NAMES);
  const around = kind === 'names of a subquery' ? ['o.k', 'o.x', 'k'] : [];
  const expressions = new Expressions(random, alias, around);
  const written =
    kind === 'names of USING'
      ? using(random)
      : (kind === 'names of pipes' ? pipes : select)(random, expressions, 'ROWS');
  const whole: Readonly<Record<string, string>> = {
    'names of a CTE': `WITH t AS (${written}), k AS (SELECT * FROM t) SELECT * FROM k AS v`,
    'names of a subquery': `SELECT o.k, ARRAY(SELECT COUNT(*) FROM (${written}) AS k) AS n FROM UNNEST([STRUCT(1 AS k, 7 AS x), (2, 8)]) AS o`,
  };
  const text = whole[kind] ?? written;
  return {
    of: kind,
    // Of GROUP BY no list goes on with the first place.
    order: kind === 'names' && /, 1(?:, \d)*$/.test(text) ? 'ordered' : 'any order',
    sql: (rows) => text.replace('ROWS', table(rows, alias)),
  };
}
