/** A consumer query: a place, an expression that fails, and rows of the queried project that it reads. */
import type { Random } from '../../sandbox/fuzz/random';
import { SqlMaker } from './maker';
import { PLACES, type Query } from './places';

export interface GeneratedQuery extends Query {
  /** The places and the kinds of fallible expressions in it. */
  readonly places: readonly string[];
  readonly kinds: readonly string[];
}

/** A scan's filters are where an engine most likely changes an order: they come more often than their share. */
const NAMES = [
  ...Object.keys(PLACES),
  ...times('where', 5),
  ...times('where under aggregate', 4),
  ...times('several tables', 12),
  ...times('own row', 5),
];

function times(place: string, count: number): string[] {
  return Array<string>(count).fill(place);
}

export function generateQuery(endpoint: string, random: Random): GeneratedQuery {
  const make = new SqlMaker(random, endpoint);
  const place = random.pick(NAMES);
  make.places.add(place);
  const relation = make.relation(random.pick([0, 0, 0, 0, 0, 1, 1, 1, 2, 3]));
  const query = PLACES[place]?.(make, relation);
  if (query === undefined) throw new RangeError(`No place ${place}.`);
  const ctes = make.ctes.length > 0 ? `with ${make.ctes.join(', ')} ` : '';
  return { sql: `${ctes}${query.sql}`, ordered: query.ordered, places: [...make.places], kinds: [...make.kinds] };
}

/** A query that takes each row by itself, as those of live tails do. */
export function generateRowQuery(endpoint: string, random: Random): GeneratedQuery {
  const make = new SqlMaker(random, endpoint);
  const { from, key, columns } = make.base();
  const keys = key.map((sql, i) => `${sql} as k${i}`).join(', ');
  const value = random.chance(40) ? make.text(columns) : random.pick(columns).sql;
  const condition = random.chance(80) ? make.predicate(columns) : make.plain(columns);
  const sql = `select ${keys}, ${value} as v from ${from} where ${condition}`;
  return { sql, ordered: false, places: [...make.places], kinds: [...make.kinds] };
}
