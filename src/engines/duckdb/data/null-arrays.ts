/** Whether lists are as tables store them: none is NULL, and none holds a NULL, at any depth. */
import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName } from '../sql';

/** Whether a field is a list or holds one. */
export function holdsLists(field: RestField): boolean {
  return field.mode === 'REPEATED' || field.fields.some(holdsLists);
}

/** A condition, never NULL: a list in the value of that field is NULL or holds one. The value has the field's own type. */
export function holdsNullArrays(field: RestField, sql: string): string {
  return nullIn(field, sql, 0);
}

function nullIn(field: RestField, sql: string, depth: number): string {
  if (field.mode !== 'REPEATED') {
    const parts = field.fields
      .filter(holdsLists)
      .map((inner) => nullIn(inner, `${sql}.${quoteName(inner.name)}`, depth));
    return `(${sql} IS NOT NULL AND (${parts.join(' OR ')}))`;
  }
  // list_count leaves NULLs out.
  const itself = `${sql} IS NULL OR list_count(${sql}) <> len(${sql})`;
  const item = { ...field, mode: 'NULLABLE' as const };
  if (!holdsLists(item)) return `(${itself})`;
  const variable = `v${depth}`;
  const inside = `list_transform(${sql}, lambda ${variable}: ${nullIn(item, variable, depth + 1)})`;
  return `(${itself} OR coalesce(list_bool_or(${inside}), false))`;
}
