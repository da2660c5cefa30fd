/** Dotted paths, as LQL and settings write them, and what they mean by the types of the columns. */
import type { SqlType, StructField } from './types';

const SEGMENT = /`([^`]+)`|[^`.]+/y;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Of LQL's clauses: a path of such a name alone would be one. */
const HEADS: ReadonlySet<string> = new Set(['f', 'from', 'c', 'chart', 's', 'select', 't']);

/** The names of a path: parts with dots between them, in backticks where they hold other characters. null: it is no path */
export function segmentsOf(path: string): readonly string[] | null {
  const segments: string[] = [];
  for (let at = 0; at <= path.length; at++) {
    SEGMENT.lastIndex = at;
    const found = SEGMENT.exec(path);
    if (found === null) return null;
    segments.push(found[1] ?? found[0]);
    at = SEGMENT.lastIndex;
    if (at < path.length && path[at] !== '.') return null;
  }
  return segments;
}

/** The path that `segmentsOf` reads as these names. */
export function pathText(segments: readonly string[]): string {
  const [only = '', ...others] = segments;
  if (others.length === 0 && HEADS.has(only)) return `\`${only}\``;
  return segments.map((name) => (PLAIN.test(name) ? name : `\`${name}\``)).join('.');
}

/** A column, or a field of the record before it, as its owner spells it. */
export interface FieldStep {
  readonly name: string;
  readonly type: SqlType;
}

/** What a path leads to. */
export type FieldPath =
  /** A column or a field of records; what is a list of records on the way has to be unfolded. */
  | { readonly kind: 'field'; readonly steps: readonly FieldStep[]; readonly type: SqlType }
  /** A value inside the JSON at the end of `steps`: of these keys, one in the other, or with dots in a key. */
  | { readonly kind: 'json'; readonly steps: readonly FieldStep[]; readonly keys: readonly string[] }
  /** The value beside a key in the list of pairs at the end of `steps`; `member`: the one of the value's members that is named. */
  | {
      readonly kind: 'pair';
      readonly steps: readonly FieldStep[];
      readonly key: string;
      readonly pair: Pair;
      readonly member: FieldStep | null;
    };

/** The fields of a list of pairs. */
export interface Pair {
  readonly key: FieldStep;
  readonly value: FieldStep;
}

/** The column of what has no column of its own: JSON with the nesting of the rows. */
const REST = '_rest';

/** Follows a path from the columns of a table. null: it names what is not there. Names ignore case, keys do not. */
export function followPath(columns: readonly StructField[], segments: readonly string[]): FieldPath | null {
  return followFields(columns, segments) ?? inRest(columns, segments);
}

function followFields(columns: readonly StructField[], segments: readonly string[]): FieldPath | null {
  const steps: FieldStep[] = [];
  let fields = columns;
  for (const [i, segment] of segments.entries()) {
    const step = fieldNamed(fields, segment);
    if (step === undefined) {
      const pair = pairOf(steps.at(-1)?.type);
      return pair === null ? null : inPairs(steps, pair, segments.slice(i));
    }
    steps.push(step);
    if (step.type.kind === 'JSON' && i < segments.length - 1) {
      return { kind: 'json', steps, keys: segments.slice(i + 1) };
    }
    fields = fieldsOf(step.type);
  }
  const last = steps.at(-1);
  return last === undefined ? null : { kind: 'field', steps, type: last.type };
}

function inPairs(steps: readonly FieldStep[], pair: Pair, keys: readonly string[]): FieldPath {
  const members = pair.value.type.kind === 'STRUCT' ? pair.value.type.fields : [];
  const member = keys.length > 1 ? (fieldNamed(members, keys.at(-1) ?? '') ?? null) : null;
  return { kind: 'pair', steps, key: (member === null ? keys : keys.slice(0, -1)).join('.'), pair, member };
}

/** Never through a list: which of its records is meant is not said. */
function inRest(columns: readonly StructField[], segments: readonly string[]): FieldPath | null {
  const rest = fieldNamed(columns, REST);
  if (rest?.type.kind !== 'JSON') return null;
  let fields = columns;
  for (const segment of segments) {
    const step = fieldNamed(fields, segment);
    if (step === undefined) return { kind: 'json', steps: [rest], keys: segments };
    if (step.type.kind !== 'STRUCT') return null;
    fields = step.type.fields;
  }
  return null;
}

export function fieldNamed(fields: readonly StructField[], segment: string): FieldStep | undefined {
  const folded = segment.toLowerCase();
  const found =
    fields.find(({ name }) => name === segment) ?? fields.find(({ name }) => name?.toLowerCase() === folded);
  return found === undefined ? undefined : { name: found.name ?? segment, type: found.type };
}

/** The fields of a record, or of the records of a list; none of anything else. */
export function fieldsOf(type: SqlType): readonly StructField[] {
  const record = type.kind === 'ARRAY' ? type.element : type;
  return record.kind === 'STRUCT' ? record.fields : [];
}

/** The fields of a list whose records are a `key` and its `value` alone; null: it is none. */
export function pairOf(type: SqlType | undefined): Pair | null {
  if (type?.kind !== 'ARRAY' || type.element.kind !== 'STRUCT') return null;
  const { fields } = type.element;
  const [key, value] = [fieldNamed(fields, 'key'), fieldNamed(fields, 'value')];
  return fields.length === 2 && key?.type.kind === 'STRING' && value !== undefined ? { key, value } : null;
}
