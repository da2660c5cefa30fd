/** Queries between the tables and the query that reads them: each makes a relation of one. */
import type { SqlMaker } from './maker';
import { textOf } from './values';
import type { Column, Relation } from './relations';

type Layer = (make: SqlMaker, inner: Relation) => Relation;

export const LAYERS: readonly Layer[] = [
  // A column that fails is computed inside.
  (make, inner) => {
    make.places.add('derived column');
    const value = make.hazard(inner.columns);
    const computed: Column =
      value.type === 'INT64'
        ? { sql: value.sql, type: 'INT64', kind: 'count', everywhere: true }
        : { sql: textOf(value, make.random), type: 'STRING', kind: 'words', everywhere: true };
    const { list, relation } = make.projected(inner, [computed]);
    return make.wrapped(make.select(list, inner.from, make.maybeWhere(inner)), relation);
  },
  (make, inner) => {
    make.places.add('derived filter');
    const { list, relation } = make.projected(inner);
    return make.wrapped(make.select(list, inner.from, ` where ${make.predicate(inner.columns)}`), relation);
  },
  (make, inner) => {
    make.places.add('derived plain');
    const { list, relation } = make.projected(inner);
    return make.wrapped(make.select(list, inner.from, make.maybeWhere(inner)), relation);
  },
  (make, inner) => {
    make.places.add('derived distinct');
    const { list, relation } = make.projected(inner);
    return make.wrapped(`select distinct ${list} from ${inner.from}${make.maybeWhere(inner)}`, relation);
  },
  (make, inner) => {
    make.places.add('derived group');
    const alias = make.name('d');
    const key = make.random.pick(
      inner.columns.filter(({ type }) => type === 'STRING' || type === 'INT64').concat(inner.columns.slice(0, 1)),
    );
    const grouping = key.type === 'JSON' || key.type === 'OTHER' ? `to_json_string(${key.sql})` : key.sql;
    const query = `select ${grouping} as k0, count(*) as n, max(length(cast(${make.random.pick(inner.key)} as string))) as c0 from ${inner.from}${make.maybeWhere(inner)} group by 1`;
    const grouped: Column = {
      sql: `${alias}.k0`,
      type: key.type === 'JSON' || key.type === 'OTHER' ? 'STRING' : key.type,
      kind: key.kind,
      everywhere: key.everywhere,
    };
    return make.wrapped(query, {
      from: alias,
      columns: [
        grouped,
        { sql: `${alias}.n`, type: 'INT64', kind: 'count', everywhere: true },
        { sql: `${alias}.c0`, type: 'INT64', kind: 'count', everywhere: true },
      ],
      key: [`${alias}.k0`],
      records: null,
    });
  },
  (make, inner) => {
    make.places.add('derived window');
    const ranked: Column = {
      sql: `row_number() over (order by ${inner.key.join(', ')})`,
      type: 'INT64',
      kind: 'count',
      everywhere: true,
    };
    const { list, relation } = make.projected(inner, [ranked]);
    return make.wrapped(make.select(list, inner.from, make.maybeWhere(inner)), relation);
  },
  (make, inner) => {
    make.places.add('derived limit');
    const { list, relation } = make.projected(inner);
    const count = 1 + make.random.below(50);
    const query = `select ${list} from ${inner.from}${make.maybeWhere(inner)} order by ${inner.key.join(', ')} limit ${count}`;
    return make.wrapped(query, relation);
  },
  (make, inner) => {
    make.places.add('derived exists');
    const { list, relation } = make.projected(inner);
    const other = make.base();
    const not = make.random.pick(['', 'not ']);
    const columns = make.random.pick([inner.columns, other.columns, [...inner.columns, ...other.columns]]);
    const condition = `${matching(make, inner, other)} and ${make.predicate(columns)}`;
    const where = ` where ${not}exists (select 1 from ${other.from} where ${condition})`;
    return make.wrapped(make.select(list, inner.from, where), relation);
  },
  (make, inner) => {
    make.places.add('derived in');
    const { list, relation } = make.projected(inner);
    const other = make.base();
    const values = `select ${make.text(other.columns)} from ${other.from}${make.maybeWhere(other)}`;
    const where = ` where ${make.text(inner.columns)} ${make.random.pick(['', 'not '])}in (${values})`;
    return make.wrapped(make.select(list, inner.from, where), relation);
  },
  (make, inner) => {
    make.places.add('derived join');
    const left = make.wrapped(...asItem(make, inner));
    const right = make.item(0);
    const columns = make.random.pick([left.columns, right.columns, [...left.columns, ...right.columns]]);
    const condition = make.random.chance(60) ? ` and ${make.predicate(columns)}` : '';
    const kind = make.random.pick(['join', 'join', 'left join', 'full join']);
    const joined: Relation = {
      from: `${left.from} ${kind} ${right.from} on ${matching(make, left, right)}${condition}`,
      columns: [...left.columns, ...right.columns],
      key: [...left.key, ...right.key],
      records: null,
    };
    const { list, relation } = make.projected(joined);
    return make.wrapped(`select ${list} from ${joined.from}${make.maybeWhere(joined)}`, relation);
  },
  (make, inner) => {
    make.places.add('derived self join');
    const [query, relation] = asItem(make, inner);
    const name = make.name('q');
    make.ctes.push(`${name} as (${query})`);
    const again = make.name('d');
    const other = (sql: string): string => sql.replace(`${relation.from}.`, `${again}.`);
    const columns = [...relation.columns, ...relation.columns.map((one) => ({ ...one, sql: other(one.sql) }))];
    const same = relation.key.map((key) => `${key} = ${other(key)}`).join(' and ');
    const joined = { from: `${name} as ${relation.from} join ${name} as ${again} on ${same}`, columns };
    const outer = make.projected({ ...joined, key: relation.key, records: null });
    const where = make.random.chance(50) ? ` where ${make.predicate(columns)}` : '';
    return make.wrapped(`select ${outer.list} from ${joined.from}${where}`, outer.relation);
  },
  (make, inner) => {
    make.places.add('derived union');
    const other = make.base();
    const alias = make.name('d');
    const part = (one: Relation, where: string): string =>
      `select cast(${make.random.pick(one.key)} as string) as k0, ${make.text(one.columns)} as c0 from ${one.from}${where}`;
    const filter = make.random.chance(40) ? ` where ${make.predicate(other.columns)}` : make.maybeWhere(other);
    const operator = make.random.pick(['union all', 'union distinct', 'except distinct', 'intersect distinct']);
    const columns = ['k0', 'c0'].map((name) => wordsOf(`${alias}.${name}`));
    return make.wrapped(`${part(inner, make.maybeWhere(inner))} ${operator} ${part(other, filter)}`, {
      from: alias,
      columns,
      key: columns.map(({ sql }) => sql),
      records: null,
    });
  },
  (make, inner) => {
    make.places.add('derived aggregate');
    const alias = make.name('d');
    const key = make.random.pick(inner.key);
    const call = make.random.pick([
      `max(${make.text(inner.columns)})`,
      `cast(countif(${make.predicate(inner.columns)}) as string)`,
      `string_agg(${make.text(inner.columns)}, ',' order by ${inner.key.join(', ')} limit 3)`,
      `array_agg(${make.text(inner.columns)} order by ${inner.key.join(', ')} limit 2)[safe_offset(0)]`,
    ]);
    const query = `select cast(${key} as string) as k0, ${call} as c0 from ${inner.from}${make.maybeWhere(inner)} group by 1`;
    const columns = ['k0', 'c0'].map((name) => wordsOf(`${alias}.${name}`));
    return make.wrapped(query, { from: alias, columns, key: [`${alias}.k0`], records: null });
  },
  (make, inner) => {
    make.places.add('derived list');
    const element = make.name('o');
    const list = make.random.pick([
      `[${make.text(inner.columns)}, 'z']`,
      `split(${make.text(inner.columns)}, '1')`,
      `array(select ${make.text(inner.columns)} from unnest([1, 2]) as ${element}_1)`,
    ]);
    const within: Relation = {
      from: `${inner.from} cross join unnest(${list}) as ${element} with offset as ${element}_o`,
      columns: [...inner.columns, wordsOf(element)],
      key: [...inner.key, `${element}_o`],
      records: null,
    };
    const { list: shown, relation } = make.projected(within);
    const where = make.random.chance(40) ? ` where ${make.predicate(within.columns)}` : make.maybeWhere(within);
    return make.wrapped(`select ${shown} from ${within.from}${where}`, relation);
  },
];

function wordsOf(sql: string): Column {
  return { sql, type: 'STRING', kind: 'words', everywhere: true };
}

/** The query that the relation is, and the FROM item that it is then. */
function asItem(make: SqlMaker, inner: Relation): [query: string, relation: Relation] {
  const { list, relation } = make.projected(inner);
  return [`select ${list} from ${inner.from}${make.maybeWhere(inner)}`, relation];
}

/** Rows of the two that belong together. */
export function matching(make: SqlMaker, left: Relation, right: Relation): string {
  return `cast(${make.random.pick(left.key)} as string) = cast(${make.random.pick(right.key)} as string)`;
}
