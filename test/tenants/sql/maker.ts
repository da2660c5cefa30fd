/** The parts that queries are put together from: relations over relations, and expressions that fail on others' rows. */
import type { Random } from '../../sandbox/fuzz/random';
import { foreignCondition, plainCondition } from './conditions';
import { alwaysFailing, fallibleOf, fallibleWhere, type Fallible } from './fallible';
import { baseRelation, CTE_TABLES, type Column, type Relation } from './relations';

export class SqlMaker {
  /** Kinds of fallible expressions, and places, that the query holds. */
  readonly kinds = new Set<string>();
  readonly places = new Set<string>();
  /** `name as (query)`, in order. */
  readonly ctes: string[] = [];
  #names = 0;

  constructor(
    readonly random: Random,
    readonly endpoint: string,
  ) {}

  name(prefix: string): string {
    return `${prefix}${++this.#names}`;
  }

  /** A CTE table of the endpoint. */
  base(): Relation {
    const tables = CTE_TABLES[this.endpoint] ?? [];
    return baseRelation(this.random.pick(tables), this.name('t'), this.random);
  }

  /** A relation with so many queries between it and the tables. */
  relation(depth: number): Relation {
    if (depth <= 0) return this.base();
    const inner = this.relation(depth - 1);
    return this.random.pick(LAYERS)(this, inner);
  }

  /** A relation that is one FROM item, to join with. */
  item(depth: number): Relation {
    const relation = this.relation(depth);
    if (!relation.from.includes('unnest(') || depth > 0) return relation;
    const { list, relation: outer } = this.projected(relation);
    return { ...outer, from: `(select ${list} from ${relation.from}) as ${outer.from}` };
  }

  /** A value that is fine on own rows and fails on some of others'. */
  hazard(columns: readonly Column[]): Fallible {
    const hazard =
      (this.random.chance(50) ? fallibleOf(columns, this.random) : null) ??
      fallibleWhere(foreignCondition(columns, this.random), this.random);
    this.kinds.add(hazard.kind);
    return hazard;
  }

  /** Conditions that hold for own rows, mostly, and fail on some of others': one, or several with AND between them. */
  predicate(columns: readonly Column[]): string {
    const count = this.random.pick([1, 1, 1, 1, 2, 4]);
    return Array.from({ length: count }, () => this.condition(columns)).join(' and ');
  }

  private condition(columns: readonly Column[]): string {
    const { random } = this;
    const fallible = (): string => truthOf(this.hazard(columns), random);
    switch (random.below(11)) {
      case 0:
        return `${foreignCondition(columns, random)} and ${fallible()}`;
      case 1: {
        const constant = alwaysFailing(random);
        this.kinds.add(constant.kind);
        return `${foreignCondition(columns, random)} and ${truthOf(constant, random)}`;
      }
      case 2:
        return `not (${foreignCondition(columns, random)}) and ${fallible()}`;
      case 3:
        return `(${foreignCondition(columns, random)} or ${fallible()})`;
      case 4:
        return `${fallible()} and ${plainCondition(columns, random)}`;
      case 5:
        return `${plainCondition(columns, random)} and ${fallible()}`;
      case 6:
        return `(${foreignCondition(columns, random)} ${random.pick(['and', 'or'])} ${fallible()}) is not null`;
      default:
        return fallible();
    }
  }

  plain(columns: readonly Column[]): string {
    return plainCondition(columns, this.random);
  }

  /** ` where …` or nothing: conditions that fail on no row. */
  maybeWhere(relation: Relation): string {
    return this.random.chance(30) ? ` where ${this.plain(relation.columns)}` : '';
  }

  /** A hazard as text, for grouping, ordering and comparing. */
  text(columns: readonly Column[]): string {
    return textOf(this.hazard(columns), this.random);
  }

  number(columns: readonly Column[]): string {
    return numberOf(this.hazard(columns), this.random);
  }

  /**
   * The relation as the FROM item of a query around it: its key and some columns under new names, and `more` beside them.
   */
  projected(inner: Relation, more: readonly Column[] = []): { list: string; relation: Relation } {
    const alias = this.name('d');
    const chosen = this.some(inner.columns, 3);
    const columns = [...chosen, ...more].map((one, i) => ({ ...one, as: `c${i}` }));
    const keys = inner.key.map((sql, i) => ({ sql, as: `k${i}` }));
    const list = [...keys, ...columns].map(({ sql, as }) => `${sql} as ${as}`).join(', ');
    return {
      list,
      relation: {
        from: alias,
        columns: columns.map(({ as, ...one }) => ({ ...one, sql: `${alias}.${as}` })),
        key: keys.map(({ as }) => `${alias}.${as}`),
        records: null,
      },
    };
  }

  /** A query, in standard form or in pipe syntax. @param where ` where …`, or nothing */
  select(list: string, from: string, where = ''): string {
    if (!this.random.chance(PIPES)) return `select ${list} from ${from}${where}`;
    this.places.add('pipe');
    const filter = where === '' ? '' : ` |>${where}`;
    return `from ${from}${filter} |> select ${list}`;
  }

  /** Up to so many of a list, in any order. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = [...list];
    const chosen: T[] = [];
    while (left.length > 0 && chosen.length < count) chosen.push(...left.splice(this.random.below(left.length), 1));
    return chosen;
  }

  /** A finished query as a FROM item: a subquery, or an entry of the WITH list. */
  wrapped(query: string, relation: Relation): Relation {
    const alias = relation.from;
    if (this.random.chance(70)) return { ...relation, from: `(${query}) as ${alias}` };
    this.places.add('cte');
    const name = this.name('q');
    this.ctes.push(`${name} as (${query})`);
    return { ...relation, from: `${name} as ${alias}` };
  }
}

/** Queries in pipe syntax, of a hundred. */
const PIPES = 12;

type Layer = (make: SqlMaker, inner: Relation) => Relation;

const LAYERS: readonly Layer[] = [
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
];

/** A condition that computes the value. */
export function truthOf({ sql, type }: Fallible, random: Random): string {
  const direct: Partial<Record<Fallible['type'], string>> = {
    INT64: `${sql} <> 123456`,
    FLOAT64: `${sql} <> 123456.5`,
    NUMERIC: `${sql} <> numeric '123456'`,
    BOOL: sql,
    STRING: `${sql} <> 'none'`,
    DATE: `${sql} <> date '2000-01-01'`,
    TIMESTAMP: `${sql} > timestamp '0001-01-01 00:00:00+00'`,
    LIST: `array_length(${sql}) >= 0`,
    BYTES: `${sql} <> b'none'`,
  };
  const choice = direct[type];
  if (choice !== undefined && random.chance(65)) return `(${choice})`;
  return random.chance(50) ? `(${sql}) is not null` : `to_json_string(${sql}) <> 'none'`;
}

export function textOf({ sql, type }: Fallible, random: Random): string {
  if (type === 'STRING') return sql;
  if (['INT64', 'DATE', 'BOOL'].includes(type) && random.chance(50)) return `cast(${sql} as string)`;
  return `to_json_string(${sql})`;
}

export function numberOf(value: Fallible, random: Random): string {
  if (value.type === 'INT64') return value.sql;
  return random.chance(50) ? `length(${textOf(value, random)})` : `if(${truthOf(value, random)}, 1, 2)`;
}
