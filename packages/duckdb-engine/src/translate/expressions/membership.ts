/** `=` and IN with GoogleSQL's three values, in which a NULL inside of a STRUCT or an array is unknown, too. */
import type { SqlType } from '@logquay/googlesql/types';
import { physicalFieldNames, quoteText } from '../../sql';
import type { Bind } from './call';

/** Whether DuckDB's own `=` is GoogleSQL's: NaN is equal to nothing there, and an INTERVAL is the sum of its parts. */
export function isComparedPlainly({ kind }: SqlType): boolean {
  return !['STRUCT', 'ARRAY', 'FLOAT64', 'INTERVAL'].includes(kind);
}

/** `a = b`. @param nan whether both of two FLOAT64 may be NaN */
export function equality(bind: Bind, a: string, b: string, type: SqlType, nan = true): string {
  switch (type.kind) {
    case 'INTERVAL':
      return byLength(bind, a, '=', b);
    case 'FLOAT64':
      return nan ? bind([a, b], (x, y) => `(${x} = ${y} AND (NOT isnan(${x}) OR ${y} IS NULL))`) : `(${a} = ${b})`;
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields).map(quoteText);
      return bind([a, b], (x, y) => {
        const fields = type.fields.map((f, i) =>
          equality(bind, `struct_extract(${x}, ${names[i]!})`, `struct_extract(${y}, ${names[i]!})`, f.type),
        );
        return `CASE WHEN ${x} IS NOT NULL AND ${y} IS NOT NULL THEN ${fields.join(' AND ')} END`;
      });
    }
    case 'ARRAY':
      return bind([a, b], (x, y) => {
        const each = `list_transform(range(1, len(${x}) + 1), lambda i: ${equality(bind, `${x}[i]`, `${y}[i]`, type.element)})`;
        return bind(
          [each],
          (all) =>
            `CASE WHEN ${x} IS NULL OR ${y} IS NULL THEN NULL WHEN len(${x}) <> len(${y}) OR list_contains(${all}, false) THEN false WHEN list_count(${all}) = len(${all}) THEN true END`,
        );
      });
    default:
      return `(${a} = ${b})`;
  }
}

/** DuckDB keeps what days and hours of different signs have in common apart: GoogleSQL compares the sum of an INTERVAL's parts. */
export function byLength(bind: Bind, a: string, operator: string, b: string): string {
  return bind([a, b], (x, y) => `(lq_interval_length(${x}) ${operator} lq_interval_length(${y}))`);
}

/** `x IN UNNEST(list)`; both operands are names. */
export function listMembership(bind: Bind, x: string, list: string, type: SqlType): string {
  if (isComparedPlainly(type) || type.kind === 'FLOAT64')
    return (
      `CASE WHEN coalesce(len(${list}), 0) = 0 THEN false WHEN ${x} IS NULL THEN NULL ` +
      `WHEN ${type.kind === 'FLOAT64' ? `NOT isnan(${x}) AND ` : ''}list_contains(${list}, ${x}) THEN true WHEN list_count(${list}) < len(${list}) THEN NULL ELSE false END`
    );
  return bind([`list_transform(${list}, lambda e: ${equality(bind, x, 'e', type)})`], (found) => {
    const known = `WHEN list_count(${found}) = len(${found}) THEN false`;
    return `CASE WHEN coalesce(len(${found}), 0) = 0 THEN false WHEN list_contains(${found}, true) THEN true ${known} END`;
  });
}
