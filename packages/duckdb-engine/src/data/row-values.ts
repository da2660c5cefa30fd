/** How wide rows may be: DuckDB holds the values of 2,048 rows at once, NULLs too, however short the text of a row is. */
import type { RestField } from '@logquay/googlesql/types';

/**
 * Values of a row at most, in the lists of it at all depths: for each record the leaf fields that its type declares, for each other
 * element one.
 */
export const MOST_ROW_VALUES = 1_024;

/** Why a wider row is left out. */
export const TOO_WIDE = `its lists have more than ${MOST_ROW_VALUES} values`;

/**
 * Rows without anything that are to be read behind a row of so many values, so that the 2,048 rows which DuckDB reads at once have
 * no more than some memory takes.
 */
export function emptyRowsBehind(values: number): number {
  return values > MOST_ROW_VALUES / 2 ? 3 : 0;
}

const counted = new WeakMap<RestField, number>();

/** Values of one element of a list of this field: its leaf fields at all depths. */
export function valuesOfItem(field: RestField): number {
  if (field.type !== 'RECORD') return 1;
  let values = counted.get(field);
  if (values === undefined) {
    values = Math.max(
      1,
      field.fields.reduce((sum, inner) => sum + valuesOfItem(inner), 0),
    );
    counted.set(field, values);
  }
  return values;
}

/** Values in the lists of a row. What is declared as a list and is none counts as its one element, as it is stored. */
export function valuesOfRow(fields: readonly RestField[], row: Readonly<Record<string, unknown>>): number {
  let values = 0;
  for (const field of fields) {
    if (field.mode !== 'REPEATED' && field.type !== 'RECORD') continue;
    const value = Object.hasOwn(row, field.name) ? row[field.name] : undefined;
    if (value === undefined || value === null) continue;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (field.mode === 'REPEATED') values += items.length * valuesOfItem(field);
    if (field.type !== 'RECORD' || values > MOST_ROW_VALUES) continue;
    for (const item of items) if (isRecord(item)) values += valuesOfRow(field.fields, item);
  }
  return values;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
