import type { Message } from './protocol';

export type ScalarName = keyof typeof KINDS;

/** What a RANGE is of. */
export type RangeElement = 'DATE' | 'DATETIME' | 'TIMESTAMP';

/** A GoogleSQL type, shaped as the service's own (`src/googlesql/types.ts`). */
export type SqlType =
  | { readonly kind: ScalarName }
  | { readonly kind: 'ARRAY'; readonly element: SqlType }
  | { readonly kind: 'RANGE'; readonly element: { readonly kind: RangeElement } }
  | { readonly kind: 'STRUCT'; readonly fields: readonly StructField[] };

export interface StructField {
  /** null: an anonymous field, as in the tuple `(1, 2)`. */
  readonly name: string | null;
  readonly type: SqlType;
}

export interface NamedType {
  readonly name: string;
  readonly type: SqlType;
}

const KINDS = {
  BOOL: 'TYPE_BOOL',
  INT64: 'TYPE_INT64',
  FLOAT64: 'TYPE_DOUBLE',
  NUMERIC: 'TYPE_NUMERIC',
  BIGNUMERIC: 'TYPE_BIGNUMERIC',
  STRING: 'TYPE_STRING',
  BYTES: 'TYPE_BYTES',
  DATE: 'TYPE_DATE',
  TIME: 'TYPE_TIME',
  DATETIME: 'TYPE_DATETIME',
  TIMESTAMP: 'TYPE_TIMESTAMP',
  INTERVAL: 'TYPE_INTERVAL',
  JSON: 'TYPE_JSON',
  GEOGRAPHY: 'TYPE_GEOGRAPHY',
} as const;

const SCALARS = new Map<string, ScalarName>(
  (Object.keys(KINDS) as ScalarName[]).map((name): [string, ScalarName] => [KINDS[name], name]),
);

/** BigQuery's other names of types, which the engine does not know (DEC and BIGDEC it has no need of). */
export const TYPE_ALIASES: Readonly<Record<string, ScalarName>> = {
  INT: 'INT64',
  SMALLINT: 'INT64',
  INTEGER: 'INT64',
  BIGINT: 'INT64',
  TINYINT: 'INT64',
  BYTEINT: 'INT64',
  DECIMAL: 'NUMERIC',
  BIGDECIMAL: 'BIGNUMERIC',
  BOOLEAN: 'BOOL',
};

export function isScalarName(text: string): text is ScalarName {
  return Object.hasOwn(KINDS, text);
}

/** A type as the engine's protocol writes it. */
export function toProto(type: SqlType): Message {
  switch (type.kind) {
    case 'ARRAY':
      return { type_kind: 'TYPE_ARRAY', array_type: { element_type: toProto(type.element) } };
    case 'RANGE':
      return { type_kind: 'TYPE_RANGE', range_type: { element_type: toProto(type.element) } };
    case 'STRUCT':
      return {
        type_kind: 'TYPE_STRUCT',
        struct_type: { field: type.fields.map((f) => ({ field_name: f.name ?? '', field_type: toProto(f.type) })) },
      };
    default:
      return { type_kind: KINDS[type.kind] };
  }
}

/** A type as the engine reported it. A kind that BigQuery does not have (an enum, as in date parts) reads as STRING. */
export function fromProto(proto: Message): SqlType {
  const kind = proto['type_kind'];
  if (kind === 'TYPE_ARRAY')
    return { kind: 'ARRAY', element: fromProto((proto['array_type'] as Message)['element_type'] as Message) };
  if (kind === 'TYPE_RANGE')
    return {
      kind: 'RANGE',
      element: fromProto((proto['range_type'] as Message)['element_type'] as Message) as { kind: RangeElement },
    };
  if (kind === 'TYPE_STRUCT') {
    const fields = ((proto['struct_type'] as Message | undefined)?.['field'] ?? []) as Message[];
    return {
      kind: 'STRUCT',
      fields: fields.map((f) => ({
        name: (f['field_name'] as string | undefined) || null,
        type: fromProto(f['field_type'] as Message),
      })),
    };
  }
  return { kind: SCALARS.get(String(kind)) ?? 'STRING' };
}

/** A type as it is written in SQL. */
export function typeText(type: SqlType): string {
  switch (type.kind) {
    case 'ARRAY':
    case 'RANGE':
      return `${type.kind}<${typeText(type.element)}>`;
    case 'STRUCT':
      return `STRUCT<${type.fields.map((f) => `${f.name === null ? '' : `\`${f.name}\` `}${typeText(f.type)}`).join(', ')}>`;
    default:
      return type.kind;
  }
}
