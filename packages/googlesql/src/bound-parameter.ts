import type { SqlType } from './types';

type Scalar = 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL';

/** Types that values are bound with. */
export type BoundType = Scalar | `ARRAY<${Scalar}>`;

/** A value bound by name. A text is canonical for its type: digits, `true`, a shortest double, or the string itself. */
export type BoundParameter =
  | { readonly name: string; readonly type: Scalar; readonly value: string }
  | { readonly name: string; readonly type: `ARRAY<${Scalar}>`; readonly value: readonly string[] };

/** A parameter without its value. */
export interface TypedParameter {
  readonly name: string;
  readonly type: BoundType;
}

/** The type as the resolver has it. */
function sqlTypeOf(type: BoundType): SqlType {
  const element = elementOf(type);
  return element === null ? { kind: type as Scalar } : { kind: 'ARRAY', element: { kind: element } };
}

/** What an ARRAY holds; null: it is not one. */
export function elementOf(type: BoundType): Scalar | null {
  return type.startsWith('ARRAY<') ? (type.slice(6, -1) as Scalar) : null;
}

/** Types by name in lower case, as the resolver looks parameters up. */
export function typesByName(parameters: readonly TypedParameter[]): ReadonlyMap<string, SqlType> {
  return new Map(parameters.map(({ name, type }) => [name.toLowerCase(), sqlTypeOf(type)]));
}
