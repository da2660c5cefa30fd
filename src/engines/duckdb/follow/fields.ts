import type { RestField } from '../../../googlesql/rest-schema';

/** The fields of both, where both describe the same table at two moments. */
export function unitedFields(fields: readonly RestField[], others: readonly RestField[]): readonly RestField[] {
  let changed: RestField[] | null = null;
  for (const other of others) {
    const index = fields.findIndex(({ name }) => name.toLowerCase() === other.name.toLowerCase());
    const known = fields[index];
    if (known === undefined) (changed ??= [...fields]).push(other);
    else if (known.type === 'RECORD' && other.type === 'RECORD') {
      const inner = unitedFields(known.fields, other.fields);
      if (inner !== known.fields) (changed ??= [...fields])[index] = { ...known, fields: inner };
    }
  }
  return changed ?? fields;
}

export function sameFields(a: readonly RestField[], b: readonly RestField[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
