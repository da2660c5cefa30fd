/** Which CTEs are computed once and kept, and which are written out at each place that reads them. */
import {
  columnsOfQuery,
  functionOf,
  type Cte,
  type Expr,
  type Relation,
  type ResolvedQuery,
  queryOf,
  visitQuery,
  definesOf,
} from '@logquay/googlesql';

/** So many times written out, any CTE costs DuckDB more to plan than to keep. */
const MANY_READS = 50;

/**
 * A CTE is kept when it is read more than once and does real work. Scans, filters and unnesting are cheaper done twice
 * with each reader's own filters and columns than kept whole, up to a point; BigQuery itself evaluates a CTE at each
 * reference.
 */
export function materializedCtes(query: ResolvedQuery): (cte: Cte) => boolean {
  const reads = new Map<number, number>();
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind === 'cte') reads.set(relation.cte.id, (reads.get(relation.cte.id) ?? 0) + 1);
    },
  });
  const verdicts = new Map<number, boolean>();
  return (cte) => {
    let verdict = verdicts.get(cte.id);
    if (verdict === undefined) {
      const times = reads.get(cte.id) ?? 0;
      const worthIt = times > MANY_READS || (times > 1 && works(cte.query));
      verdict = worthIt && isClosed(cte.query) && !isVolatile(cte.query);
      verdicts.set(cte.id, verdict);
    }
    return verdict;
  };
}

/** Whether it aggregates, sorts out duplicates, joins or windows anywhere. */
function works(query: ResolvedQuery): boolean {
  const known = workers.get(query);
  if (known !== undefined) return known;
  let found = false;
  visitQuery(query, {
    relation: (relation) => {
      found ||= relation.kind === 'aggregate' || relation.kind === 'join' || relation.kind === 'window';
      found ||= relation.kind === 'set' && (relation.distinct || relation.operator !== 'union');
      found ||= relation.kind === 'limit';
      found ||= relation.kind === 'cte' && works(relation.cte.query);
    },
  });
  workers.set(query, found);
  return found;
}

/** Each is asked at every place that reads it. */
const workers = new WeakMap<ResolvedQuery, boolean>();

/** A correlated CTE has to stay where the rows around it are. */
export function isClosed(query: ResolvedQuery): boolean {
  return outerColumns(query).size === 0;
}

/** The ids of columns of the rows around it that a query reads. */
export function outerColumns(query: ResolvedQuery): ReadonlySet<number> {
  const defined = new Set<number>();
  visitQuery(query, { relation: (relation) => definesOf(relation).forEach(({ column }) => defined.add(column.id)) });
  return new Set([...columnsOfQuery(query)].filter((id) => !defined.has(id)));
}

/** The ids of the columns that an expression reads, not those of its subqueries' own. */
export function outerColumnsOf(expr: Expr): ReadonlySet<number> {
  const relation: Relation = { kind: 'filter', input: { kind: 'single_row' }, condition: expr };
  return outerColumns(queryOf(relation));
}

/** The ids of all CTEs that the body of `cte` reads, through others too. */
export function ctesReadBy(cte: Cte): ReadonlySet<number> {
  const known = readers.get(cte);
  if (known !== undefined) return known;
  const read = new Set<number>();
  visitQuery(cte.query, {
    relation: (relation) => {
      if (relation.kind !== 'cte' || read.has(relation.cte.id)) return;
      read.add(relation.cte.id);
      ctesReadBy(relation.cte).forEach((id) => read.add(id));
    },
  });
  readers.set(cte, read);
  return read;
}

const readers = new WeakMap<Cte, ReadonlySet<number>>();

function isVolatile(query: ResolvedQuery): boolean {
  let found = false;
  visitQuery(query, {
    expr: (expr) => {
      found ||= expr.kind === 'call' && functionOf(expr).value === 'random';
    },
  });
  return found;
}
