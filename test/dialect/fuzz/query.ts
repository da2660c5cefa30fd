/** Whole queries: the places where an expression may stand, aggregates with their modifiers, and windows with their frames. */
import { findFunction, functionNames } from '../../../packages/googlesql/src/functions/catalogue';
import { isAllowedFunction } from '../../../packages/googlesql/src/consumer/functions';
import type { Order } from '../two-engines';
import type { Random } from '../random';
import { VALUES } from './edge-values';
import { column, Source, type Expression } from './expression';
import { Generator } from './generate';

export interface Query {
  /** What it is of, in short. */
  readonly of: string;
  /** The query over these rows. */
  readonly sql: (rows: readonly number[]) => string;
  readonly order: Order;
}

const GROUPABLE = ['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP', 'DATE', 'BYTES', 'NUMERIC', 'DATETIME', 'TIME'];

/** Which rows have the extreme keys. */
function lists(e: string, f: string): string {
  return (
    `STRING_AGG(CAST(id AS STRING), ';' HAVING MAX ${e} ORDER BY id DESC) AS most, ` +
    `ARRAY_AGG(id HAVING MIN ${e} ORDER BY id LIMIT 2) AS least, SUM(id HAVING MIN ${f}) AS s, AVG(id HAVING MAX ${f}) AS a`
  );
}

/** Where an expression may stand, and what its type has to be. */
const PLACES: Readonly<Record<string, string>> = {
  WHERE: 'SELECT id FROM «from» WHERE «e» = «f»',
  'WHERE NOT': 'SELECT id FROM «from» WHERE NOT («e» < «f»)',
  'WHERE IN': 'SELECT id FROM «from» WHERE «e» IN («f», «e»)',
  'GROUP BY': 'SELECT «e» AS k, COUNT(*) AS n, MIN(id) AS i FROM «from» GROUP BY k',
  DISTINCT: 'SELECT DISTINCT «e» AS k FROM «from»',
  'COUNT DISTINCT': 'SELECT COUNT(DISTINCT «e») AS n FROM «from»',
  HAVING: 'SELECT «e» AS k, COUNT(*) AS n FROM «from» GROUP BY k HAVING MAX(«f») >= k',
  'HAVING without GROUP BY': 'SELECT COUNT(*) AS n FROM «from» HAVING MIN(«e») < MAX(«f»)',
  JOIN: 'SELECT a.id AS a, b.id AS b FROM (SELECT id, «e» AS k FROM «from») AS a JOIN (SELECT id, «f» AS k FROM «from») AS b ON a.k = b.k',
  'LEFT JOIN':
    'SELECT a.id AS a, b.id AS b FROM (SELECT id, «e» AS k FROM «from») AS a LEFT JOIN (SELECT id, «f» AS k FROM «from») AS b ON a.k = b.k AND b.id > 0',
  'FULL JOIN':
    'SELECT a.id AS a, b.id AS b FROM (SELECT id, «e» AS k FROM «from») AS a FULL JOIN (SELECT id, «f» AS k FROM «from») AS b USING (k)',
  'JOIN by less':
    'SELECT a.id AS a, b.id AS b FROM (SELECT id, «e» AS k FROM «from») AS a JOIN (SELECT id, «f» AS k FROM «from») AS b ON a.k < b.k',
  'UNION DISTINCT': 'SELECT «e» AS k FROM «from» UNION DISTINCT SELECT «f» FROM «from»',
  'EXCEPT DISTINCT': 'SELECT «e» AS k FROM «from» EXCEPT DISTINCT SELECT «f» FROM «from»',
  'INTERSECT DISTINCT': 'SELECT «e» AS k FROM «from» INTERSECT DISTINCT SELECT «f» FROM «from»',
  'IN subquery': 'SELECT id FROM «from» WHERE «e» IN (SELECT «f» FROM «from»)',
  'NOT IN subquery': 'SELECT id FROM «from» WHERE «e» NOT IN (SELECT «f» FROM «from»)',
  'correlated EXISTS':
    'SELECT id FROM (SELECT id, «e» AS k FROM «from») AS a WHERE EXISTS (SELECT 1 FROM (SELECT «f» AS m FROM «from») AS b WHERE b.m = a.k)',
  'correlated COUNT':
    'SELECT id, (SELECT COUNT(*) FROM (SELECT «f» AS m FROM «from») AS b WHERE b.m <= a.k) AS n FROM (SELECT id, «e» AS k FROM «from») AS a',
  QUALIFY: 'SELECT id FROM «from» WHERE TRUE QUALIFY RANK() OVER (ORDER BY «e») <= 2',
  ROLLUP: 'SELECT «e» AS k, «f» AS m, COUNT(*) AS n FROM «from» GROUP BY ROLLUP(k, m)',
  CUBE: 'SELECT «e» AS k, «f» AS m, COUNT(*) AS n, GROUPING(k) AS g FROM «from» GROUP BY CUBE(k, m)',
  'GROUPING SETS': 'SELECT «e» AS k, «f» AS m, COUNT(*) AS n FROM «from» GROUP BY GROUPING SETS (k, (k, m), ())',
  'GROUP BY with HAVING MAX': `SELECT MOD(id, 2) AS g, COUNT(* HAVING MIN «f») AS n, ${lists('«e»', '«f»')} FROM «from» GROUP BY g`,
  'ROLLUP with HAVING MAX': `SELECT MOD(id, 2) AS k, MOD(id, 3) AS m, GROUPING(k) AS g, ${lists('«e»', '«f»')} FROM «from» GROUP BY ROLLUP(k, m)`,
  'GROUPING SETS with HAVING MAX': `SELECT k, COUNT(*) AS n, ${lists('e', 'k')} FROM (SELECT id, «e» AS e, «f» AS k FROM «from») GROUP BY GROUPING SETS (k, ())`,
  'correlated HAVING MAX':
    'SELECT id, (SELECT STRING_AGG(CAST(b.i AS STRING) HAVING MAX b.m ORDER BY b.i) FROM (SELECT id AS i, «f» AS m FROM «from») AS b WHERE b.m <= a.k) AS n FROM (SELECT id, «e» AS k FROM «from») AS a',
  'HAVING MAX over an array':
    'SELECT id, (SELECT COUNT(x.v HAVING MIN x.k) FROM UNNEST(list) AS x) AS n FROM (SELECT id, [STRUCT(«e» AS k, 1 AS v), («f», NULL), («e», 2)] AS list FROM «from») AS a',
  'PARTITION BY':
    'SELECT id, COUNT(*) OVER (PARTITION BY «e») AS n, RANK() OVER (PARTITION BY «e» ORDER BY «f») AS r FROM «from»',
  CTE: 'WITH t AS (SELECT id, «e» AS k, «f» AS m FROM «from») SELECT a.id, b.m FROM t AS a JOIN t AS b ON a.id = b.id WHERE a.k IS NOT NULL',
};
const WITHOUT_PARTITION_OF_FLOAT =
  /GROUP BY$|DISTINCT|HAVING$|HAVING without|^GROUPING|JOIN|PARTITION|ROLLUP|CUBE|SETS|IN subquery/;

const ORDERINGS = ['', ' DESC', ' ASC NULLS LAST', ' DESC NULLS FIRST', ' NULLS FIRST', ' NULLS LAST'];

/** The names of all places, for each of them to be taken once a round. */
export const PLACE_NAMES: readonly string[] = [...Object.keys(PLACES), 'ORDER BY', 'LIMIT', 'PIVOT', 'UNNEST'];

export function placed(place: string, random: Random, rows: number): Query {
  const generator = new Generator(random, rows);
  const types = WITHOUT_PARTITION_OF_FLOAT.test(place) ? GROUPABLE.filter((type) => type !== 'FLOAT64') : GROUPABLE;
  const type = random.pick(types);
  const one = (): Expression => generator.ofType(type, random.int(3));
  const [e, f] = [one(), one()];
  const form = random.pick(['union', 'unnest'] as const);
  const ordering = random.pick(ORDERINGS);
  return {
    of: place,
    order: place === 'ORDER BY' || place === 'LIMIT' ? 'ordered' : 'any order',
    sql: (ids) => {
      const source = new Source();
      const [a, b] = [source.text(e), source.text(f)];
      const from = source.from(ids, form);
      switch (place) {
        case 'ORDER BY':
          return `SELECT id FROM ${from} ORDER BY ${a}${ordering}, id DESC`;
        case 'LIMIT':
          return `SELECT id, ${b} AS v FROM ${from} ORDER BY ${a}${ordering}, id LIMIT 2 OFFSET 1`;
        case 'PIVOT':
          return `SELECT * FROM (SELECT id, MOD(id, 2) AS m, ${a} AS k FROM ${from}) PIVOT(COUNT(k) AS n, MAX(k) AS x FOR m IN (0 AS even, 1 AS odd))`;
        case 'UNNEST':
          return `SELECT id, x, o FROM (SELECT id, [${a}, ${b}] AS list FROM ${from}) AS t CROSS JOIN UNNEST(t.list) AS x WITH OFFSET AS o`;
        default:
          return PLACES[place]!.replaceAll('«e»', () => a)
            .replaceAll('«f»', () => b)
            .replaceAll('«from»', () => from);
      }
    },
  };
}

const UNSETTLED = new Set(['APPROX_TOP_COUNT', 'APPROX_TOP_SUM', 'GROUPING']);

/** Names of aggregate and window functions that are called. */
export const AGGREGATES: readonly string[] = functionNames().filter((name) => {
  const fn = findFunction(name);
  const parts = name.split('.').map((part) => ({ name: part, quoted: false, span: { start: 0, end: 0 } }));
  return fn !== undefined && fn.mode !== 'scalar' && !UNSETTLED.has(fn.name) && isAllowedFunction(parts);
});

const FRAMES = [
  ...['', ''],
  ...['ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', 'ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING'],
  ...['ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'],
  ...['ROWS UNBOUNDED PRECEDING', 'ROWS 1 PRECEDING', 'ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING'],
  ...['RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', 'RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'],
  ...[
    'RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING',
    'RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING',
    'RANGE BETWEEN 1 FOLLOWING AND 3 FOLLOWING',
    'RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING',
    'RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING',
    'RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
  ],
  ...['ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'],
  // Empty.
  ...['ROWS BETWEEN 1 PRECEDING AND 3 PRECEDING', 'ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING'],
  ...['RANGE BETWEEN 1 PRECEDING AND 3 PRECEDING', 'RANGE BETWEEN 3 FOLLOWING AND 1 FOLLOWING'],
];
/** Whose value follows from the order alone. */
const NEEDS_TOTAL_ORDER = new Set(['ROW_NUMBER', 'NTILE', 'LAG', 'LEAD', 'FIRST_VALUE', 'LAST_VALUE', 'NTH_VALUE']);
const LISTS = new Set(['ARRAY_AGG', 'STRING_AGG', 'ARRAY_CONCAT_AGG']);
const CONSTANTS: Readonly<Record<string, readonly string[]>> = {
  APPROX_QUANTILES: ['1', '2', '3', '4'],
  LAG: ['1', '2', '0', '3'],
  LEAD: ['1', '2', '0', '3'],
  NTH_VALUE: ['1', '2', '5'],
  NTILE: ['1', '2', '3', '10'],
  PERCENTILE_CONT: ['0', '0.5', '1', '0.25', '0.9'],
  PERCENTILE_DISC: ['0', '0.5', '1', '0.25', '0.9'],
};

/** A call of an aggregate or window function with its modifiers, over groups, all rows or windows. */
export function aggregated(name: string, random: Random, rows: number): Query | null {
  const fn = findFunction(name);
  if (fn === undefined) throw new Error(`No function ${name}.`);
  const generator = new Generator(random, rows);
  const found = generator.argumentsOf(fn, random.int(2), CONSTANTS[fn.name] ?? []);
  if (found === null) return null;
  const args = found;
  const noOrder = fn.name === 'APPROX_COUNT_DISTINCT';
  const must = fn.over === 'required' || /^PERCENTILE/.test(fn.name);
  const over = must || (fn.over === 'optional' && fn.name !== 'APPROX_QUANTILES' && random.chance(0.35));
  // Equal keys leave open which row is meant.
  const keys = VALUES['FLOAT64']!.filter((value) => value !== '-0.0');
  const unique = column('FLOAT64', shuffled(random, keys).slice(0, rows));
  const form = random.pick(['union', 'unnest'] as const);
  const group = column(
    'INT64',
    Array.from({ length: rows }, () => random.pick(['1', '2', 'CAST(NULL AS INT64)'])),
  );
  const distinct =
    !must &&
    args.length > 0 &&
    fn.over !== undefined &&
    // Any of them is any of the distinct ones.
    fn.name !== 'ANY_VALUE' &&
    random.chance(0.2) &&
    GROUPABLE.includes(args[0]!.type);
  const ordered = fn.orderBy === true && !over;
  const limit =
    fn.limit === true && !over && random.chance(0.3) ? random.pick([' LIMIT 1', ' LIMIT 2', ' LIMIT 0']) : '';
  const nulls =
    fn.nulls === true || fn.name === 'ARRAY_AGG' ? random.pick(['', ' IGNORE NULLS', ' RESPECT NULLS']) : '';
  const having =
    !over &&
    fn.mode === 'aggregate' &&
    args.length > 0 &&
    !/^PERCENTILE/.test(fn.name) &&
    (fn.name === 'ANY_VALUE' || random.chance(0.4))
      ? random.pick(['MAX', 'MIN'])
      : null;
  const havingBy =
    fn.name === 'ANY_VALUE'
      ? unique
      : random.chance(0.5)
        ? unique
        : generator.ofType(random.pick(['INT64', 'STRING', 'DATE', 'FLOAT64']), 0);
  const direction = random.pick(['', ' DESC']);
  const frame = fn.framing === true && !noOrder ? random.pick(FRAMES) : '';
  const where = over ? random.pick(['plain', 'partition']) : random.pick(['all', 'group', 'none']);
  const frameKey = generator.ofType(random.pick(['INT64', 'FLOAT64', 'NUMERIC']), 0);
  const isByOther = /^(?:MAX|MIN)_BY$/.test(fn.name);
  return {
    of: name,
    order: 'any order',
    sql: (ids) => {
      const source = new Source();
      const texts = args.map((arg, i) => source.text(isByOther && i === 1 ? unique : arg));
      let inside = (distinct ? 'DISTINCT ' : '') + texts.join(', ') + nulls;
      if (having !== null) inside += ` HAVING ${having} ${source.text(havingBy)}`;
      if (ordered) {
        const keys = distinct ? '' : args[0]!.type.startsWith('ARRAY') ? 'id' : ', id';
        inside += ` ORDER BY ${keys === 'id' ? keys : `${texts[0]}${direction}${keys}`}`;
      }
      inside += limit;
      const isRange = frame.startsWith('RANGE') && /\d/.test(frame);
      let window = '';
      if (over) {
        const partition = where === 'partition' ? `PARTITION BY ${source.text(group)}` : '';
        const key = isRange
          ? source.text(frameKey)
          : NEEDS_TOTAL_ORDER.has(fn.name) || LISTS.has(fn.name) || frame.startsWith('ROWS')
            ? `${source.text(unique)}${direction}, id`
            : source.text(frameKey);
        const order =
          fn.over === 'unsupported' || noOrder || (fn.over === 'optional' && frame === '' && where === 'plain')
            ? ''
            : ` ORDER BY ${key}${isRange ? direction : ''}`;
        window = ` OVER (${partition}${order}${order === '' ? '' : ` ${frame}`})`;
      }
      const text = `${name}(${inside})${window} AS v`;
      if (over) {
        const from = source.from(ids, form);
        return `SELECT id, ${text} FROM ${from}`;
      }
      if (where === 'group') {
        const by = source.text(group);
        return `SELECT ${by} AS g, ${text} FROM ${source.from(ids, form)} GROUP BY g`;
      }
      return `SELECT ${text} FROM ${source.from(ids, form)}${where === 'none' ? ' WHERE id < 0' : ''}`;
    },
  };
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const left = [...list];
  const taken: T[] = [];
  while (left.length > 0) taken.push(...left.splice(random.int(left.length), 1));
  return taken;
}
