/**
 * Places within an expression: subqueries, lists and conditions around a value that can fail, which may again be in one.
 * What they give fails only where the value does.
 */
import { foreignCondition } from './conditions';
import { fallibleWhere, type Fallible, type ValueType } from './fallible';
import { matching } from './layers';
import type { SqlMaker } from './maker';
import { PLACES } from './places';
import type { Column } from './relations';

type Carrier = (make: SqlMaker, columns: readonly Column[]) => Fallible;

export const CARRIERS: readonly (readonly [place: string, carrier: Carrier])[] = [
  ['in branch', (make, columns) => around(make, columns, (sql) => `if(${make.plain(columns)}, ${sql}, null)`)],
  [
    'in else',
    (make, columns) =>
      around(make, columns, (sql) => `case when ${foreignCondition(columns, make.random)} then null else ${sql} end`),
  ],
  ['in coalesce', (make, columns) => around(make, columns, (sql) => `coalesce(null, ${sql})`)],
  ['in struct', (make, columns) => around(make, columns, (sql) => `struct(${sql} as a, 1 as b).a`)],
  ['in list', (make, columns) => text(make, `[${make.text(columns)}, 'a'][offset(0)]`)],
  ['in concat', (make, columns) => text(make, `concat(${make.text(columns)}, ${make.text(columns)})`)],
  ['in condition', (make, columns) => fallibleWhere(make.predicate(columns), make.random)],
  ['in subquery of no table', (make, columns) => around(make, columns, (sql) => `(select ${sql})`)],
  [
    'in subquery over a list',
    (make, columns) => {
      const o = make.name('o');
      const list = make.random.pick(['[1]', '[1, 2]', '[3, 1]']);
      const where = make.random.pick([`where ${o} = 1`, `where ${o} < 2 and ${make.plain(columns)}`]);
      return around(make, columns, (sql) => `(select ${sql} from unnest(${list}) as ${o} ${where})`);
    },
  ],
  [
    'in aggregate over a list',
    (make, columns) => {
      const o = make.name('o');
      const where = make.random.pick(['', ` where ${o} > 1`, ` where ${make.predicate(columns)}`]);
      return text(make, `(select max(${make.text(columns)}) from unnest([1, 2]) as ${o}${where})`);
    },
  ],
  [
    'in exists over a list',
    (make, columns) => {
      const o = make.name('o');
      return truth(make, `exists (select 1 from unnest([1, 2]) as ${o} where ${o} > 1 and ${make.predicate(columns)})`);
    },
  ],
  [
    'in array over a list',
    (make, columns) => {
      const o = make.name('o');
      const distinct = make.random.pick(['', 'distinct ']);
      return text(
        make,
        `array_to_string(array(select ${distinct}${make.text(columns)} from unnest([1, 2]) as ${o}), ',')`,
      );
    },
  ],
  [
    'in list within list',
    (make, columns) => {
      const [o, p] = [make.name('o'), make.name('o')];
      const from = make.random.pick([
        `unnest([1, 2]) as ${o}, unnest([${o}, 3]) as ${p}`,
        `unnest([1, 2]) as ${o} join unnest([1, 2, 3]) as ${p} on ${o} = ${p}`,
      ]);
      return number(make, `(select count(*) from ${from} where ${p} >= ${o} and ${make.predicate(columns)})`);
    },
  ],
  [
    'in window over a list',
    (make, columns) => {
      const [o, d] = [make.name('o'), make.name('d')];
      const inner = `select ${make.text(columns)} as x, row_number() over (order by ${o}) as n from unnest([1, 2]) as ${o}`;
      return text(make, `(select max(${d}.x) from (${inner}) as ${d} where ${d}.n = 1)`);
    },
  ],
  [
    'of a list of the column',
    (make, columns) => {
      const column = make.random.pick(columns);
      const o = make.name('o');
      const element = { ...column, sql: o };
      const others = make.random.chance(30) ? columns : [];
      return text(make, `(select max(${make.text([element, ...others])}) from unnest([${column.sql}]) as ${o})`);
    },
  ],
  [
    'in with of a subquery',
    (make, columns) => {
      // Its own queries see nothing of the row.
      const [q, o] = [make.name('q'), make.name('o')];
      const list = `select ${o} from unnest([1, 2]) as ${o}`;
      return text(make, `(with ${q} as (${list}) select max(${make.text(columns)}) from ${q} where ${o} > 1)`);
    },
  ],
  [
    'in subquery over a table',
    (make, columns) => {
      const other = make.base();
      const all = make.random.pick([columns, other.columns, [...columns, ...other.columns]]);
      const where = ` where ${correlated(make, columns, other.key)}`;
      return text(make, `(select max(${make.text(all)}) from ${other.from}${where})`);
    },
  ],
  [
    'in exists over a table',
    (make, columns) => {
      const other = make.base();
      const all = make.random.pick([columns, other.columns, [...columns, ...other.columns]]);
      const where = `${correlated(make, columns, other.key)} and ${make.predicate(all)}`;
      return truth(make, `exists (select 1 from ${other.from} where ${where})`);
    },
  ],
  [
    'in operand',
    (make, columns) => {
      const other = make.base();
      const values = `select ${make.text(other.columns)} from ${other.from}${make.maybeWhere(other)}`;
      return truth(make, `${make.text(columns)} ${make.random.pick(['', 'not '])}in (${values})`);
    },
  ],
  [
    'in operand over a list',
    (make, columns) => {
      const o = make.name('o');
      return truth(make, `${make.text(columns)} in (select ${make.text(columns)} from unnest([1, 2]) as ${o})`);
    },
  ],
  [
    'in subquery over joined tables',
    (make) => {
      const [left, right] = [make.item(0), make.item(0)];
      const condition = make.predicate(make.random.pick([left.columns, right.columns]));
      const on = matching(make, left, right);
      return number(make, `(select count(*) from ${left.from} join ${right.from} on ${on} where ${condition})`);
    },
  ],
  [
    'a whole query',
    (make) => {
      const name = make.random.pick(Object.keys(PLACES));
      const query = PLACES[name]?.(make, make.relation(make.random.below(2)));
      make.places.add(name);
      return number(make, `(select count(*) from (${query?.sql ?? 'select 1'}))`);
    },
  ],
];

/** The value itself in something that gives it unchanged, where there is at most one of it. */
function around(make: SqlMaker, columns: readonly Column[], write: (sql: string) => string): Fallible {
  const value = make.hazard(columns);
  return { ...value, sql: write(value.sql) };
}

function typed(type: ValueType): (make: SqlMaker, sql: string) => Fallible {
  return (make, sql) => ({ sql, type, kind: [...make.kinds].at(-1) ?? 'combined' });
}

const text = typed('STRING');
const number = typed('INT64');
const truth = typed('BOOL');

/** By a text column of the row, mostly; some subqueries read nothing of it. */
function correlated(make: SqlMaker, columns: readonly Column[], key: readonly string[]): string {
  const texts = columns.filter(({ type }) => type === 'STRING' || type === 'INT64' || type === 'TIMESTAMP');
  if (texts.length === 0 || make.random.chance(15)) return 'true';
  return `cast(${make.random.pick(key)} as string) = cast(${make.random.pick(texts).sql} as string)`;
}
