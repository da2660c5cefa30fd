/** Collations beside the types of values, and how those of several values become one. */
import type { SqlType } from '../../../../googlesql/types';

/**
 * Of a STRING its collation's name; of an array that of its elements, alone in a list; of a struct those of its fields. null:
 * none, in no part.
 */
export type Collation = string | null | readonly Collation[];

/** Two collations of which neither is the other. */
export class CollationConflict extends Error {
  constructor(
    readonly one: string,
    readonly other: string,
  ) {
    super(`Collation conflict: "${other}" vs. "${one}"`);
  }
}

/** A collation of parts, or null where no part has one. */
export function ofParts(parts: readonly Collation[]): Collation {
  return parts.every((part) => part === null) ? null : parts;
}

/** What two values of one type have together. @throws CollationConflict */
export function merged(one: Collation, other: Collation): Collation {
  if (one === null) return other;
  if (other === null || one === other) return one;
  if (typeof one === 'string' || typeof other === 'string') throw new CollationConflict(nameOf(one), nameOf(other));
  return one.map((part, i) => merged(part, other[i] ?? null));
}

function nameOf(collation: Collation): string {
  if (typeof collation === 'string') return collation;
  return collation?.map(nameOf).find((name) => name !== '') ?? '';
}

/** Of the fields of a struct, or of the elements of an array. */
export function partOf(collation: Collation, at: number): Collation {
  return collation === null || typeof collation === 'string' ? null : (collation[at] ?? null);
}

/** As BigQuery writes it: `[und:ci,_]`. */
export function textOf(collation: Collation): string {
  if (collation === null) return '_';
  return typeof collation === 'string' ? collation : `[${collation.map(textOf).join(',')}]`;
}

/** The collation of the values that a value of `from` becomes in one of `to`; undefined: it cannot be told. */
export function adapted(collation: Collation, from: SqlType, to: SqlType): Collation | undefined {
  if (collation === null || !holdsTexts(to)) return null;
  if (sameShape(from, to)) return collation;
  if (from.kind === 'ARRAY' && sameShape(from.element, to)) return collation[0] ?? null;
  if (to.kind === 'ARRAY' && sameShape(from, to.element)) return [collation];
  return undefined;
}

function holdsTexts(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return holdsTexts(type.element);
  return type.kind === 'STRUCT' ? type.fields.some((field) => holdsTexts(field.type)) : type.kind === 'STRING';
}

/** Whether the parts that may have a collation are in the same places. */
function sameShape(one: SqlType, other: SqlType): boolean {
  if (one.kind === 'ARRAY') return other.kind === 'ARRAY' && sameShape(one.element, other.element);
  if (one.kind !== 'STRUCT') return one.kind === other.kind;
  if (other.kind !== 'STRUCT' || one.fields.length !== other.fields.length) return false;
  return one.fields.every((field, i) => sameShape(field.type, other.fields[i]!.type));
}
