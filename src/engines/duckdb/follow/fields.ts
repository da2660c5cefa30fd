import type { RestField } from '../../../googlesql/rest-schema';

/** Fields of an inferred schema at all depths: a log whose keys are values must not become a table of a million columns. */
export const MOST_FIELDS = 1_000;

/** Fields, and those of their records at all depths. */
export function countOf(fields: readonly RestField[]): number {
  return fields.reduce((sum, field) => sum + 1 + countOf(field.fields), 0);
}

/**
 * The fields of both, where both describe the same table at two moments.
 *
 * @param most so many fields at all depths; what is beyond is left out
 */
export function unitedFields(
  fields: readonly RestField[],
  others: readonly RestField[],
  most: number,
): readonly RestField[] {
  let room = most - countOf(fields);
  let changed: RestField[] | null = null;
  for (const other of others) {
    const index = fields.findIndex(({ name }) => name.toLowerCase() === other.name.toLowerCase());
    const known = fields[index];
    if (known === undefined) {
      const inner = unitedFields([], other.fields, room - 1);
      if (room <= 0 || (other.type === 'RECORD' && inner.length === 0)) continue;
      (changed ??= [...fields]).push({ ...other, fields: inner });
      room -= 1 + countOf(inner);
    } else if (known.type === 'RECORD' && other.type === 'RECORD') {
      const before = countOf(known.fields);
      const inner = unitedFields(known.fields, other.fields, before + Math.max(0, room));
      if (inner === known.fields) continue;
      (changed ??= [...fields])[index] = { ...known, fields: inner };
      room -= countOf(inner) - before;
    }
  }
  return changed ?? fields;
}

export function sameFields(a: readonly RestField[], b: readonly RestField[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
