/** Which types have =, which have <, and which can be grouped. */
import { contains } from '../type-names';
import type { SqlType } from '../types';

const OPAQUE: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['JSON', 'GEOGRAPHY']);

/** Types with `=`: all whose parts are neither JSON nor GEOGRAPHY. */
export function supportsEquality(type: SqlType): boolean {
  return !contains(type, OPAQUE);
}

/** Types with `<`, MIN and ORDER BY: structs have no order. */
export function supportsOrdering(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return supportsOrdering(type.element);
  return type.kind !== 'STRUCT' && supportsEquality(type);
}

/** Types of GROUP BY, DISTINCT and set operations that compare rows. */
export const supportsGrouping = supportsEquality;

/** PARTITION BY takes no FLOAT64 either. */
export function supportsPartitioning(type: SqlType): boolean {
  return supportsEquality(type) && !contains(type, FLOAT);
}

const FLOAT: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['FLOAT64']);
