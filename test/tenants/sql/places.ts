/** Places of a query where an expression that fails on others' rows can stand: each makes the outermost query. */
import { someOwnId } from '../data/rows';
import { foreignCondition } from './conditions';
import type { SqlMaker } from './maker';
import type { Relation } from './relations';

export interface Query {
  readonly sql: string;
  /** Whether it fixes the order of its rows. */
  readonly ordered: boolean;
}

type Place = (make: SqlMaker, relation: Relation) => Query;

const free = (sql: string): Query => ({ sql, ordered: false });

/** Key columns, and one more. */
function shown(make: SqlMaker, relation: Relation): string {
  const column = make.random.pick(relation.columns);
  return [...relation.key.map((sql, i) => `${sql} as k${i}`), `${column.sql} as v`].join(', ');
}

/** Ordered by the whole key half of the time; then sometimes cut off. */
function finished(make: SqlMaker, relation: Relation, sql: string): Query {
  if (make.random.chance(50)) return free(sql);
  const direction = make.random.pick(['', ' desc']);
  const order = relation.key.map((one) => `${one}${direction}`).join(', ');
  return {
    sql: `${sql} order by ${order}${make.random.chance(40) ? ` limit ${5 + make.random.below(60)}` : ''}`,
    ordered: true,
  };
}

/** Two relations with a text key each, to join by. */
function pair(make: SqlMaker, relation: Relation): { other: Relation; on: string } {
  const other = make.item(make.random.below(2));
  return { other, on: `cast(${relation.key[0] ?? ''} as string) = cast(${other.key[0] ?? ''} as string)` };
}

/** `exists`, `in` and such look into a second relation. */
function second(make: SqlMaker): Relation {
  return make.relation(make.random.below(2));
}

function withKeys(relation: Relation): string {
  return relation.key.map((sql, i) => `${sql} as k${i}`).join(', ');
}

export const PLACES: Readonly<Record<string, Place>> = {
  // As many tries as there are tables, for the price of one request.
  'several tables': (make) => {
    const values = Array.from({ length: 5 }, (_, i) => {
      const one = make.base();
      const { records } = one;
      const inRecords = records !== null && records.columns.length > 0 && make.random.chance(35);
      const condition = inRecords
        ? make.random.pick([
            () => `exists (select 1 from unnest(${records.sql}) as m where ${make.predicate(records.columns)})`,
            () => `(select countif(${make.predicate(records.columns)}) from unnest(${records.sql}) as m) >= 0`,
            () => `array_length(array(select ${make.text(records.columns)} from unnest(${records.sql}) as m)) >= 0`,
          ])()
        : make.predicate(one.columns);
      return `(select count(*) from ${one.from} where ${condition}) as n${i}`;
    });
    return free(`select ${values.join(', ')}`);
  },
  where: (make, r) => finished(make, r, `select ${shown(make, r)} from ${r.from} where ${make.predicate(r.columns)}`),
  'pipe where': (make, r) => free(`from ${r.from} |> where ${make.predicate(r.columns)} |> select ${shown(make, r)}`),
  'pipe where twice': (make, r) =>
    free(
      `from ${r.from} |> where ${make.plain(r.columns)} |> where ${make.predicate(r.columns)} |> aggregate count(*) as n, max(${r.key[0] ?? ''}) as greatest`,
    ),
  'pipe extend': (make, r) =>
    free(
      `from ${r.from}${make.random.chance(30) ? ` |> where ${make.plain(r.columns)}` : ''} |> extend ${make.text(r.columns)} as x |> ${make.random.pick(["where x <> 'none' |> aggregate count(*) as n", 'aggregate count(*) as n group by x', 'aggregate count(*) as n'])}`,
    ),
  'pipe aggregate': (make, r) =>
    free(
      `from ${r.from} |> aggregate count(*) as n, max(${make.number(r.columns)}) as m group by ${r.key[0] ?? ''} as k |> where n > 0 and m > -5`,
    ),
  'pipe join': (make, r) => {
    const { other, on } = pair(make, r);
    const columns = make.random.pick([r.columns, other.columns]);
    const kind = make.random.pick(['join', 'left join', 'full join']);
    return free(
      `from ${r.from} |> ${kind} ${other.from} on ${on} and ${make.predicate(columns)} |> select ${r.key[0] ?? ''} as a, ${other.key[0] ?? ''} as b`,
    );
  },
  'pipe window': (make, r) =>
    free(
      `from ${r.from} |> extend rank() over (order by ${make.text(r.columns)}, ${r.key.join(', ')}) as place |> where place <= 10 |> select ${withKeys(r)}`,
    ),
  'pipe distinct': (make, r) => free(`from ${r.from} |> select ${make.text(r.columns)} as x |> distinct`),
  'pipe order by': (make, r) => ({
    sql: `from ${r.from} |> select ${withKeys(r)}, ${make.text(r.columns)} as x |> order by x, ${r.key.map((_, i) => `k${i}`).join(', ')} |> limit 10`,
    ordered: true,
  }),
  'where under aggregate': (make, r) =>
    free(`select count(*) as n, max(${r.key[0] ?? ''}) as greatest from ${r.from} where ${make.predicate(r.columns)}`),
  select: (make, r) =>
    finished(make, r, `select ${withKeys(r)}, ${make.text(r.columns)} as x from ${r.from}${make.maybeWhere(r)}`),
  'select where foreign': (make, r) =>
    free(`select ${make.text(r.columns)} as x from ${r.from} where ${foreignCondition(r.columns, make.random)}`),
  'join on': (make, r) => {
    const { other, on } = pair(make, r);
    const kind = make.random.pick(['join', 'inner join', 'left join', 'right join', 'full join']);
    const columns = make.random.pick([r.columns, other.columns, [...r.columns, ...other.columns]]);
    const sql = `select ${r.key[0] ?? ''} as a, ${other.key[0] ?? ''} as b from ${r.from} ${kind} ${other.from} on ${on} and ${make.predicate(columns)}`;
    return free(sql);
  },
  'join where': (make, r) => {
    const { other, on } = pair(make, r);
    const columns = make.random.pick([r.columns, other.columns]);
    const from = make.random.pick([
      `${r.from}, ${other.from} where ${on} and`,
      `${r.from} cross join ${other.from} where ${on} and`,
    ]);
    return free(`select ${r.key[0] ?? ''} as a, count(*) as n from ${from} ${make.predicate(columns)} group by 1`);
  },
  'join key': (make, r) => {
    const other = make.item(make.random.below(2));
    return free(
      `select count(*) as n from ${r.from} join ${other.from} on ${make.text(r.columns)} = ${make.text(other.columns)}`,
    );
  },
  having: (make, r) => {
    const key = make.random.pick(r.key);
    const condition = make.random.pick([
      `max(${make.number(r.columns)}) > -5`,
      `min(${make.text(r.columns)}) <> 'none'`,
      `countif(${make.predicate(r.columns)}) >= 0`,
      `div(10, count(*)) >= 0`,
      `div(10, countif(not (${foreignCondition(r.columns, make.random)}))) >= 0`,
    ]);
    return free(
      `select ${key} as k, count(*) as n from ${r.from}${make.maybeWhere(r)} group by ${key} having ${condition}`,
    );
  },
  qualify: (make, r) => {
    const order = r.key.join(', ');
    const condition = make.random.pick([
      `row_number() over (order by ${order}) <= 20 and ${make.predicate(r.columns)}`,
      `rank() over (order by ${make.text(r.columns)}, ${order}) <= 10`,
      `max(${make.number(r.columns)}) over () > -5`,
    ]);
    return free(`select ${withKeys(r)} from ${r.from} where true qualify ${condition}`);
  },
  'scalar subquery': (make, r) => {
    const other = second(make);
    const inner = make.random.pick([
      `(select max(${make.text(other.columns)}) from ${other.from})`,
      `(select ${make.text(other.columns)} from ${other.from} order by ${other.key.join(', ')} limit 1)`,
      `(select count(*) from ${other.from} where ${make.predicate(other.columns)})`,
      `(select ${other.key[0] ?? ''} from ${other.from} where ${foreignCondition(other.columns, make.random)})`,
      `(select ${make.text(other.columns)} from ${other.from} where cast(${other.key[0] ?? ''} as string) = cast(${r.key[0] ?? ''} as string) order by ${other.key.join(', ')} limit 1)`,
      `(select count(*) from ${other.from} where cast(${other.key[0] ?? ''} as string) = cast(${r.key[0] ?? ''} as string) and ${make.predicate([...r.columns, ...other.columns])})`,
    ]);
    return make.random.chance(50)
      ? free(`select ${withKeys(r)}, ${inner} as x from ${r.from}`)
      : free(`select count(*) as n from ${r.from} where ${inner} is not null`);
  },
  'in subquery': (make, r) => {
    const other = second(make);
    const not = make.random.pick(['', 'not ']);
    return free(
      `select ${withKeys(r)} from ${r.from} where ${make.text(r.columns)} ${not}in (select ${make.text(other.columns)} from ${other.from}${make.maybeWhere(other)})`,
    );
  },
  exists: (make, r) => {
    const other = second(make);
    const not = make.random.pick(['', 'not ']);
    const correlated = `cast(${other.key[0] ?? ''} as string) = cast(${r.key[0] ?? ''} as string) and `;
    const condition = make.predicate(make.random.pick([other.columns, [...r.columns, ...other.columns]]));
    return free(
      `select ${withKeys(r)} from ${r.from} where ${not}exists (select 1 from ${other.from} where ${correlated}${condition})`,
    );
  },
  'exists uncorrelated': (make, r) => {
    const other = second(make);
    return free(
      `select count(*) as n from ${r.from} where exists (select 1 from ${other.from} where ${make.predicate(other.columns)})`,
    );
  },
  'array subquery': (make, r) => {
    const other = second(make);
    return free(
      `select array(select ${make.text(other.columns)} from ${other.from} order by ${other.key.join(', ')} limit 20) as list, count(*) as n from ${r.from}`,
    );
  },
  'union all': (make, r) => {
    const other = second(make);
    return free(
      `select ${make.text(r.columns)} as x from ${r.from}${make.maybeWhere(r)} union all select ${make.text(other.columns)} from ${other.from} where ${make.predicate(other.columns)}`,
    );
  },
  'set operation': (make, r) => {
    const other = second(make);
    const operator = make.random.pick(['union distinct', 'intersect distinct', 'except distinct']);
    return free(
      `select ${make.text(r.columns)} as x from ${r.from}${make.maybeWhere(r)} ${operator} select ${make.text(other.columns)} from ${other.from}${make.maybeWhere(other)}`,
    );
  },
  'filter over union': (make, r) => {
    const other = second(make);
    const x = make.name('u');
    const text = (one: Relation): string => `cast(${one.key[0] ?? ''} as string)`;
    const columns = [{ sql: `${x}.k`, type: 'STRING' as const, kind: 'words' as const, everywhere: true }];
    return free(
      `select ${x}.k from (select ${text(r)} as k from ${r.from} union all select ${text(other)} from ${other.from}) as ${x} where ${make.predicate(columns)}`,
    );
  },
  'window argument': (make, r) => {
    const call = make.random.pick([
      `max(${make.number(r.columns)}) over (order by ${r.key.join(', ')})`,
      `sum(${make.number(r.columns)}) over ()`,
      `lag(${make.text(r.columns)}) over (order by ${r.key.join(', ')})`,
      `first_value(${make.text(r.columns)}) over (order by ${r.key.join(', ')})`,
      `count(${make.text(r.columns)}) over (order by ${r.key.join(', ')} rows between 2 preceding and current row)`,
      `countif(${make.predicate(r.columns)}) over ()`,
    ]);
    return finished(make, r, `select ${withKeys(r)}, ${call} as x from ${r.from}`);
  },
  'window partition': (make, r) =>
    free(
      `select ${withKeys(r)}, count(*) over (partition by ${make.text(r.columns)}) as x from ${r.from}${make.maybeWhere(r)}`,
    ),
  'window order': (make, r) =>
    free(
      `select ${withKeys(r)}, row_number() over (order by ${make.text(r.columns)}, ${r.key.join(', ')}) as x from ${r.from}${make.maybeWhere(r)}`,
    ),
  aggregate: (make, r) => {
    const call = make.random.pick([
      `max(${make.text(r.columns)})`,
      `min(${make.number(r.columns)})`,
      `sum(${make.number(r.columns)})`,
      `count(${make.text(r.columns)})`,
      `count(distinct ${make.text(r.columns)})`,
      `countif(${make.predicate(r.columns)})`,
      `logical_and(${make.predicate(r.columns)})`,
      `bit_xor(${make.number(r.columns)})`,
      `sum(if(${make.predicate(r.columns)}, 1, 0))`,
    ]);
    const group = make.random.chance(40) ? ` group by ${make.random.pick(r.key)}` : '';
    return free(`select ${call} as x, count(*) as n from ${r.from}${make.maybeWhere(r)}${group}`);
  },
  'overflowing sum': (make, r) => {
    make.kinds.add('sum overflow');
    const numbers = r.columns.filter(({ kind, type }) => kind === 'count' && type === 'INT64');
    const number =
      numbers.length > 0
        ? make.random.pick(numbers).sql
        : `if(${foreignCondition(r.columns, make.random)}, 9223372036854775807, 1)`;
    return free(`select sum(${number}) as x from ${r.from}`);
  },
  'aggregate order': (make, r) => {
    const call = make.random.pick([
      `array_agg(${r.key[0] ?? ''} order by ${make.text(r.columns)}, ${r.key.join(', ')} limit 10)`,
      `string_agg(cast(${r.key[0] ?? ''} as string), ',' order by ${make.text(r.columns)}, ${r.key.join(', ')})`,
      `array_agg(${make.text(r.columns)} ignore nulls order by ${r.key.join(', ')} limit 10)`,
      `string_agg(${make.text(r.columns)}, ',' order by ${r.key.join(', ')} limit 20)`,
    ]);
    return free(`select ${call} as x from ${r.from}${make.maybeWhere(r)}`);
  },
  'having max': (make, r) => {
    const of = `having ${make.random.pick(['max', 'min'])} ${make.random.chance(50) ? make.number(r.columns) : make.text(r.columns)}`;
    const call = make.random.pick([
      `max(cast(${r.key[0] ?? ''} as string) ${of})`,
      `count(* ${of})`,
      `count(distinct ${make.text(r.columns)} ${of})`,
      `sum(${make.number(r.columns)} ${of})`,
      `string_agg(cast(${r.key[0] ?? ''} as string), ',' ${of} order by ${r.key.join(', ')} limit 20)`,
    ]);
    const key = make.random.pick(r.key);
    const group = make.random.pick(['', '', ` group by ${key}`, ` group by rollup(${key})`]);
    return free(`select ${call} as x, count(*) as n from ${r.from}${make.maybeWhere(r)}${group}`);
  },
  'max by': (make, r) =>
    free(
      `select max_by(${r.key[0] ?? ''}, concat(${make.text(r.columns)}, ${r.key.map((one) => `cast(${one} as string)`).join(', ')})) as x from ${r.from}`,
    ),
  'group key': (make, r) =>
    free(`select ${make.text(r.columns)} as x, count(*) as n from ${r.from}${make.maybeWhere(r)} group by 1`),
  'rollup key': (make, r) =>
    free(
      `select x, y, count(*) as n from (select ${make.text(r.columns)} as x, ${make.number(r.columns)} as y from ${r.from}) group by rollup(x, y)`,
    ),
  distinct: (make, r) => free(`select distinct ${make.text(r.columns)} as x from ${r.from}${make.maybeWhere(r)}`),
  pivot: (make, r) =>
    free(
      `select * from (select ${make.number(r.columns)} as k, cast(${r.key[0] ?? ''} as string) as v from ${r.from}${make.maybeWhere(r)}) pivot(count(v) for k in (1, 2, 3))`,
    ),
  unpivot: (make, r) =>
    free(
      `select * from (select ${withKeys(r)}, ${make.text(r.columns)} as x, ${make.text(r.columns)} as y from ${r.from}) unpivot(v for name in (x, y))`,
    ),
  'order by': (make, r) => ({
    sql: `select ${withKeys(r)} from ${r.from}${make.maybeWhere(r)} order by ${make.text(r.columns)}${make.random.pick([' desc', '', ' nulls last'])}, ${r.key.join(', ')}${make.random.chance(50) ? ' limit 10' : ''}`,
    ordered: true,
  }),
  'unnest argument': (make, r) => {
    const list = make.random.pick([
      `[${make.text(r.columns)}, 'z']`,
      `split(${make.text(r.columns)}, '1')`,
      `generate_array(1, least(3, abs(length(${make.text(r.columns)}))))`,
    ]);
    return free(
      `select ${withKeys(r)}, x from ${r.from}, unnest(${list}) as x where true${make.random.chance(30) ? ` and ${make.plain(r.columns)}` : ''}`,
    );
  },
  'records exists': (make, r) => {
    const { records } = r;
    if (records === null || records.columns.length === 0) return whereOf(make, r);
    const condition = make.predicate(records.columns);
    return free(
      `select ${withKeys(r)} from ${r.from} where ${make.random.pick(['', 'not '])}exists (select 1 from unnest(${records.sql}) as m where ${condition})`,
    );
  },
  'records value': (make, r) => {
    const { records } = r;
    if (records === null || records.columns.length === 0) return whereOf(make, r);
    const value = make.random.pick([
      `(select max(${make.text(records.columns)}) from unnest(${records.sql}) as m)`,
      `(select ${make.random.pick(records.columns).sql} from unnest(${records.sql}) as m with offset as o order by o limit 1)`,
      `array_to_string(array(select ${make.text(records.columns)} from unnest(${records.sql}) as m with offset as o order by o), ',')`,
      `(select countif(${make.predicate(records.columns)}) from unnest(${records.sql}) as m)`,
      `(select count(*) from unnest(${records.sql}) as m where ${make.predicate(records.columns)} and ${foreignCondition(r.columns, make.random)})`,
    ]);
    return make.random.chance(50)
      ? free(`select ${withKeys(r)}, ${value} as x from ${r.from}`)
      : free(`select count(*) as n from ${r.from} where to_json_string(${value}) <> 'none'`);
  },
  'records one row': (make, r) => {
    const { records } = r;
    if (records === null || records.columns.length === 0) return whereOf(make, r);
    make.kinds.add('scalar subquery');
    return free(
      `select count(*) as n from ${r.from} where to_json_string((select ${make.random.pick(records.columns).sql} from unnest(${records.sql}) as m where ${foreignCondition(records.columns, make.random)})) <> 'none'`,
    );
  },
  'records subscript': (make, r) => {
    const { records } = r;
    if (records === null || records.columns.length === 0) return whereOf(make, r);
    make.kinds.add('subscript');
    const position = make.random.pick(['offset(0)', `ordinal(array_length(${records.sql}))`, 'ordinal(1)']);
    const field = make.random.pick(records.columns).sql.slice('m.'.length);
    return free(
      `select count(*) as n from ${r.from} where to_json_string(${records.sql}[${position}].${field}) <> 'none'`,
    );
  },
  'join records': (make, r) => {
    const { records } = r;
    if (records === null || records.columns.length === 0) return whereOf(make, r);
    const join = make.random.pick(['left join', 'join']);
    return free(
      `select ${withKeys(r)}, count(*) as n from ${r.from} ${join} unnest(${records.sql}) as m on ${make.predicate(records.columns)} group by ${r.key.join(', ')}`,
    );
  },
  'case branch': (make, r) =>
    free(
      `select ${withKeys(r)}, case when ${foreignCondition(r.columns, make.random)} then ${make.text(r.columns)} when ${make.predicate(r.columns)} then 'b' else ${make.text(r.columns)} end as x from ${r.from}`,
    ),
  'own row': (make, r) => {
    const fails = `sqrt(if(strpos(${r.key.map((one) => `cast(${one} as string)`).join(' || ')}, '${someOwnId(make.random)}') > 0, -1, 1))`;
    if (make.random.chance(60)) return finished(make, r, `select ${shown(make, r)} from ${r.from} where ${fails} = 1`);
    return finished(make, r, `select ${withKeys(r)}, ${fails} as x from ${r.from}`);
  },
  'unused column': (make, r) =>
    free(
      `select count(*) as n from (select ${make.text(r.columns)} as x, ${r.key[0] ?? ''} as k from ${r.from}) where k is not null`,
    ),
};

function whereOf(make: SqlMaker, relation: Relation): Query {
  make.places.add('where');
  return free(`select ${shown(make, relation)} from ${relation.from} where ${make.predicate(relation.columns)}`);
}
