import { readInstantText } from '../../endpoints/values';
import { type NamedType, type SqlType, isInCalendar, instantText } from '@logquay/googlesql/types';
import type { ErrorDetails, Reason } from '../../errors';

/** A row by its columns. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A row in the form that is compared and shown: members in the order of the columns, and each TIMESTAMP as an ISO 8601
 * text in UTC, whether it came as microseconds, as the service answers, or as a text of any precision and zone, as
 * people write it. What is neither stays as it is.
 */
export function readableRow(row: Row, columns: readonly NamedType[]): Row {
  const known = columns.filter(({ name }) => Object.hasOwn(row, name));
  const others = Object.keys(row).filter((name) => !columns.some((column) => column.name === name));
  return Object.fromEntries([
    ...known.map(({ name, type }) => [name, readable(row[name], type)] as const),
    ...others.sort().map((name) => [name, inOrder(row[name])] as const),
  ]);
}

function readable(value: unknown, type: SqlType): unknown {
  if (type.kind === 'TIMESTAMP') return readableInstant(value);
  if (type.kind === 'ARRAY' && Array.isArray(value)) return value.map((item) => readable(item, type.element));
  if (type.kind !== 'STRUCT' || typeof value !== 'object' || value === null) return inOrder(value);
  return readableRow(
    value as Row,
    type.fields.map((field) => ({ name: field.name ?? '', type: field.type })),
  );
}

/** A value with members in the order of their names, and one form for each number. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]));
}

function readableInstant(value: unknown): unknown {
  const text = typeof value === 'string' ? readInstantText(value) : instantOf(value);
  return text?.replace(/\.?0*Z$/, 'Z') ?? inOrder(value);
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` of microseconds since the epoch; null for what is no TIMESTAMP. */
function instantOf(value: unknown): string | null {
  if (typeof value !== 'bigint' && (typeof value !== 'number' || !Number.isSafeInteger(value))) return null;
  return isInCalendar(BigInt(value)) ? instantText(BigInt(value)) : null;
}

/** What a request was answered with. */
export type Outcome =
  | {
      readonly kind: 'result';
      readonly columns: readonly NamedType[];
      /** As `readableRow` gives them. */
      readonly rows: readonly Row[];
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'error';
      readonly reason: Reason;
      readonly message: string;
      readonly details: ErrorDetails;
    };

/** The outcome of one test. */
export interface TestResult {
  readonly name: string;
  /** Lines for people; empty: the test passed. */
  readonly differences: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
}

/** The outcome of one file of tests. */
export interface FileResult {
  readonly path: string;
  /** Why none of its tests ran, line by line; empty: they did. */
  readonly faults: readonly string[];
  readonly tests: readonly TestResult[];
  /** Tests whose expectations `--update` has rewritten. */
  readonly updated: number;
}
