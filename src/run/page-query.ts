/** The statement of a page: the stored query's rows behind a position in its own order. */
import type { Secret } from '../config';
import { ServiceError } from '../errors';
import { SealedTexts } from './sealed-texts';
import type { BoundParameter } from '@logquay/duckdb-engine/contract';
import type { Literal, OrderItem, Query } from '@logquay/googlesql/syntax';
import { type NamedType, quotedName } from '@logquay/googlesql/types';

/** Positions of pages as opaque texts. */
export class PageTokens {
  readonly #sealed: SealedTexts;

  /** @param secret null: one of this process */
  constructor(secret: Secret | null) {
    this.#sealed = new SealedTexts(secret);
  }

  /** @param purpose what the token is good for, and for nothing else */
  seal(position: PagePosition, purpose: string): string {
    return this.#sealed.seal(JSON.stringify(position), purpose);
  }

  /** @throws ServiceError invalidParameter for a token of another request, key or service, or of a changed endpoint */
  open(token: string, purpose: string): PagePosition {
    const text = this.#sealed.open(token, purpose);
    if (text !== null) return JSON.parse(text) as PagePosition;
    const message =
      'The page_token is not one of this request: other parameters, another key, or an endpoint that has changed.';
    throw new ServiceError('invalidParameter', message, { parameter: 'page_token', hint: 'Begin without it.' });
  }
}

/** A column of ORDER BY. */
export interface PageKey {
  readonly column: string;
  readonly type: keyof typeof VALUES;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** How far pages have come. */
export interface PagePosition {
  /** JSON texts of the keys of the last row. */
  readonly values: readonly string[];
  /** Digests of the rows with these keys that have been given. */
  readonly given: readonly string[];
  /** Starts of the first page that move on with the clock, by parameter. */
  readonly starts?: readonly (readonly [name: string, value: string])[];
}

/** Types that pages can be ordered by, and the SQL of a value of each that is bound as what its JSON text is. */
const VALUES = {
  STRING: (parameter: string) => parameter,
  INT64: (parameter: string) => parameter,
  BOOL: (parameter: string) => parameter,
  DATE: (parameter: string) => `CAST(${parameter} AS DATE)`,
  // Text with `timestamps=iso`, else microseconds.
  TIMESTAMP: (parameter: string, isText: boolean) =>
    isText ? `CAST(${parameter} AS TIMESTAMP)` : `TIMESTAMP_MICROS(${parameter})`,
} as const satisfies Record<string, (parameter: string, isText: boolean) => string>;

/** The columns that a stored query orders its rows by; null: it has no order, or one that pages cannot go on from. */
export function pageKeysOf(query: Query, columns: readonly NamedType[]): readonly PageKey[] | null {
  if (query.orderBy.length === 0 || query.pipes.length > 0) return null;
  const keys = query.orderBy.map((item) => pageKey(item, columns));
  return keys.every((key) => key !== null) ? keys : null;
}

function pageKey(item: OrderItem, columns: readonly NamedType[]): PageKey | null {
  const { expression, collation, descending, nulls } = item;
  if (collation !== null) return null;
  const column =
    expression.kind === 'path' && expression.parts.length === 1
      ? columns.find(({ name }) => name.toLowerCase() === expression.parts[0]?.name.toLowerCase())
      : expression.kind === 'literal'
        ? columns[ordinalOf(expression) - 1]
        : undefined;
  const kind = column?.type.kind;
  if (column === undefined || kind === undefined || !isPageable(kind)) return null;
  return { column: column.name, type: kind, descending, nullsFirst: nulls === null ? !descending : nulls === 'first' };
}

function ordinalOf({ type, value }: Literal): number {
  return type === 'INT64' ? Number(value) : NaN;
}

function isPageable(kind: string): kind is PageKey['type'] {
  return Object.hasOwn(VALUES, kind);
}

/** The rows of `sql` whose keys are those of the position or come after it, in the order of the keys. */
export function pageStatement(
  sql: string,
  keys: readonly PageKey[],
  { values }: PagePosition,
): { readonly sql: string; readonly parameters: readonly BoundParameter[] } {
  const parameters = keys.flatMap(({ type }, i): BoundParameter[] => {
    const json = values[i] ?? 'null';
    if (json === 'null') return [];
    if (isText(json)) return [{ name: nameOf(i), type: 'STRING', value: JSON.parse(json) as string }];
    return [{ name: nameOf(i), type: type === 'BOOL' ? 'BOOL' : 'INT64', value: json }];
  });
  // From the last key outwards: behind it, or equal so far and not before it.
  const condition = keys.reduceRight<string>((inner, key, i) => {
    const [after, equal] = comparisons(key, i, values[i] ?? 'null');
    return `(${after} OR (${equal} AND ${inner}))`;
  }, 'TRUE');
  const order = keys.map(({ column, descending, nullsFirst }) => {
    return `${fieldOfRow(column)} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  });
  return {
    sql: `SELECT * FROM (\n${sql}\n) AS logquay_row WHERE ${condition} ORDER BY ${order.join(', ')}`,
    parameters,
  };
}

/** Whether a row comes after the position by this key, and whether it is there. */
function comparisons({ column, type, descending, nullsFirst }: PageKey, i: number, json: string): [string, string] {
  const name = fieldOfRow(column);
  if (json === 'null') return [nullsFirst ? `${name} IS NOT NULL` : 'FALSE', `${name} IS NULL`];
  const value = VALUES[type](`@${nameOf(i)}`, isText(json));
  const after = `${name} ${descending ? '<' : '>'} ${value}`;
  return [nullsFirst ? after : `${after} OR ${name} IS NULL`, `${name} = ${value}`];
}

function isText(json: string): boolean {
  return json.startsWith('"');
}

function nameOf(i: number): string {
  return `logquay_page_${String(i)}`;
}

function fieldOfRow(column: string): string {
  return `logquay_row.${quotedName(column)}`;
}
