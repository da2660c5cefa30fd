/** Whether lists are as they are kept: none is NULL, and none holds a NULL, at any depth. */
import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName } from '../translate/sql';

/** Whether a field is a list or holds one. */
export function holdsLists(field: RestField): boolean {
  return field.mode === 'REPEATED' || field.fields.some(holdsLists);
}

/** A condition, never NULL: a list in the value of that field is not as it is kept. The value has the field's own type. */
export function unkeptLists(field: RestField, sql: string): string {
  return unkept(field, sql, 0);
}

function unkept(field: RestField, sql: string, depth: number): string {
  if (field.mode !== 'REPEATED') {
    const parts = field.fields
      .filter(holdsLists)
      .map((inner) => unkept(inner, `${sql}.${quoteName(inner.name)}`, depth));
    return `(${sql} IS NOT NULL AND (${parts.join(' OR ')}))`;
  }
  // list_count leaves NULLs out.
  const itself = `${sql} IS NULL OR list_count(${sql}) <> len(${sql})`;
  const item = { ...field, mode: 'NULLABLE' as const };
  if (!holdsLists(item)) return `(${itself})`;
  const variable = `v${depth}`;
  const inside = `list_transform(${sql}, lambda ${variable}: ${unkept(item, variable, depth + 1)})`;
  return `(${itself} OR coalesce(list_bool_or(${inside}), false))`;
}
