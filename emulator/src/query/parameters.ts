import { type SqlType } from '../googlesql/types';
import { NotAValue, NULL, scalarCell, type Cell } from '../googlesql/values';
import { scalarNamed } from '../warehouse/schema';
import { invalid } from './error';

/** A query parameter, bound. `name` is null for a positional one. */
export interface Parameter {
  readonly name: string | null;
  readonly type: SqlType;
  readonly value: Cell;
}

interface ParameterType {
  readonly type?: string;
  readonly arrayType?: ParameterType;
  readonly structTypes?: readonly { readonly name?: string; readonly type: ParameterType }[];
}

interface ParameterValue {
  readonly value?: string | number | boolean | null;
  readonly arrayValues?: readonly ParameterValue[];
  readonly structValues?: Readonly<Record<string, ParameterValue>>;
}

/** Reads `queryParameters` of a request. Throws `BigQueryError` `invalid`. */
export function parametersOf(json: unknown): Parameter[] {
  if (json === undefined || json === null) return [];
  if (!Array.isArray(json)) throw invalid('Invalid value for queryParameters', 'queryParameters');
  return (json as { name?: string; parameterType?: ParameterType; parameterValue?: ParameterValue }[]).map((p, i) => {
    const name = p.name ?? null;
    const shown = name === null ? `at position ${i + 1}` : `"${name}"`;
    if (p.parameterType?.type === undefined) throw invalid(`Query parameter ${shown} has no type`, name ?? undefined);
    const type = typeOf(p.parameterType, shown);
    return { name, type, value: valueOf(type, p.parameterValue, shown) };
  });
}

function typeOf(json: ParameterType, shown: string): SqlType {
  const name = (json.type ?? '').toUpperCase();
  if (name === 'ARRAY' && json.arrayType !== undefined)
    return { kind: 'ARRAY', element: typeOf(json.arrayType, shown) };
  if (name === 'STRUCT' && json.structTypes !== undefined)
    return {
      kind: 'STRUCT',
      fields: json.structTypes.map((f) => ({ name: f.name ?? null, type: typeOf(f.type, shown) })),
    };
  const kind = scalarNamed(name);
  if (kind === null) throw invalid(`Query parameter ${shown} has an invalid type: ${name}`);
  return { kind };
}

/** A value left out is NULL, whatever the type: the trap that BigQuery's own client falls into stays one here. */
function valueOf(type: SqlType, json: ParameterValue | undefined, shown: string): Cell {
  if (type.kind === 'ARRAY')
    return { array_value: { element: (json?.arrayValues ?? []).map((item) => valueOf(type.element, item, shown)) } };
  if (type.kind === 'STRUCT') {
    if (json?.structValues === undefined) return NULL;
    const values = json.structValues;
    return { struct_value: { field: type.fields.map((f) => valueOf(f.type, values[f.name ?? ''], shown)) } };
  }
  const text = json?.value;
  if (text === undefined || text === null) return NULL;
  // Google's own client sends the elements of a list as JSON numbers.
  if (typeof text === 'object') throw invalid(`Query parameter ${shown} has a value that is not a string`);
  if (type.kind === 'RANGE') throw invalid(`Query parameter ${shown}: the local BigQuery takes no RANGE`);
  try {
    return scalarCell(type.kind, String(text));
  } catch (error) {
    if (!(error instanceof NotAValue)) throw error;
    throw invalid(`Invalid value for query parameter ${shown}: ${error.message}`);
  }
}
