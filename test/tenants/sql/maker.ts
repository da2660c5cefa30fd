/** The parts that queries are put together from: relations over relations, and expressions that fail on others' rows. */
import type { Random } from '../../sandbox/fuzz/random';
import { foreignCondition, plainCondition } from './conditions';
import { CARRIERS } from './carriers';
import { alwaysFailing, fallibleOf, fallibleWhere, type Fallible } from './fallible';
import { LAYERS } from './layers';
import { baseRelation, CTE_TABLES, type Column, type Relation } from './relations';
import { numberOf, textOf, truthOf } from './values';

export class SqlMaker {
  /** Kinds of fallible expressions, and places, that the query holds. */
  readonly kinds = new Set<string>();
  readonly places = new Set<string>();
  /** `name as (query)`, in order. */
  readonly ctes: string[] = [];
  #names = 0;
  /** Places that the expression being generated is in. */
  #depth = 0;

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

  /** A value that is fine on own rows and fails on some of others', sometimes within subqueries and such. */
  hazard(columns: readonly Column[]): Fallible {
    if (this.#depth >= DEEPEST || !this.random.chance(CARRIED)) return this.#bare(columns);
    this.#depth++;
    const [place, carrier] = this.random.pick(CARRIERS);
    this.places.add(place);
    const value = carrier(this, columns);
    this.#depth--;
    return value;
  }

  #bare(columns: readonly Column[]): Fallible {
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
/** Values that are in a place of their own within the expression, of a hundred, and how many such places at most. */
const CARRIED = 25;
const DEEPEST = 3;
