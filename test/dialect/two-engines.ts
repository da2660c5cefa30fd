/**
 * One query on two engines, both the real thing: the embedded engine, and Google's own GoogleSQL engine behind the local
 * BigQuery. What they answer is compared as a caller sees it: column names and types, rows, or that there is an error.
 */
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import type { SqlType } from '../../packages/googlesql/src/types';
import { openEngineOn } from '../engines/over-local-bigquery';
import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';

/** `rows`: each row's JSON text with its integers beyond 2^53 made strings, parsed. */
export type Answer =
  | { readonly columns: readonly (readonly [name: string, type: string])[]; readonly rows: readonly unknown[] }
  | { readonly error: string };

/** Whether the order of the rows is fixed by the query. */
export type Order = 'ordered' | 'any order';

export class TwoEngines {
  private constructor(
    readonly embedded: Engine,
    readonly reference: Engine,
  ) {}

  /** @param host the local BigQuery, over `test/fixture` */
  static async open(host: string): Promise<TwoEngines> {
    return new TwoEngines(await openFixture({ smallFile: 0 }), await openEngineOn(host));
  }

  /** How the embedded engine's answer differs from the reference's; null: not at all. */
  async difference(sql: string, order: Order): Promise<string | null> {
    const [ours, theirs] = await Promise.all([ask(this.embedded, sql), ask(this.reference, sql)]);
    return compared(ours, theirs, order);
  }

  async close(): Promise<void> {
    await Promise.all([this.embedded.close(), this.reference.close()]);
  }
}

/** What an engine answers; its words where that is an error. */
export async function ask(engine: Engine, sql: string): Promise<Answer> {
  try {
    const { columns, rows } = await engine.run(queryOf(sql), within(30_000));
    return { columns: columns.map((c) => [c.name, typeName(c.type)] as const), rows: rows.map(exactly) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** How one answer differs from another; null: not at all. Any error is like any other. */
export function compared(ours: Answer, theirs: Answer, order: Order): string | null {
  if ('error' in ours || 'error' in theirs) {
    if ('error' in ours && 'error' in theirs) return null;
    return `embedded ${shown(ours)}; reference ${shown(theirs)}`;
  }
  if (JSON.stringify(ours.columns) !== JSON.stringify(theirs.columns))
    return `columns ${JSON.stringify(ours.columns)}, not ${JSON.stringify(theirs.columns)}`;
  const [a, b] = order === 'ordered' ? [ours.rows, theirs.rows] : [sorted(ours.rows), sorted(theirs.rows)];
  if (a.length !== b.length) return `${a.length} rows, not ${b.length}`;
  const at = a.findIndex((row, i) => !same(row, b[i]));
  return at === -1 ? null : `row ${at + 1} ${JSON.stringify(a[at])}, not ${JSON.stringify(b[at])}`;
}

/** JSON.parse would round integers beyond 2^53: they become texts that start with "#". */
export function exactly(text: string): unknown {
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  return JSON.parse(text.replace(tokens, (token) => (/^-?\d{16,}$/.test(token) ? `"#${token}"` : token)));
}

function shown(answer: Answer): string {
  return ('error' in answer ? `fails (${answer.error})` : JSON.stringify(answer.rows)).slice(0, 600);
}

/** Floating-point numbers are summed and rooted in other orders and by other libraries: they may differ in the last digits. */
const TOLERANCE = 1e-9;

export function same(a: unknown, b: unknown): boolean {
  // A FLOAT64 may be written with an exponent on one side and as an integer on the other.
  if (typeof a === 'number' && isLong(b)) return same(a, Number(b.slice(1)));
  if (isLong(a) && typeof b === 'number') return same(Number(a.slice(1)), b);
  if (typeof a === 'number' && typeof b === 'number')
    return a === b || Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b), 1e-6);
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  // The keys of a row and of a STRUCT are in the order of the types, compared before; those of a JSON value have none.
  const [ours, theirs] = [new Map(Object.entries(a)), Object.entries(b)];
  return ours.size === theirs.length && theirs.every(([key, value]) => ours.has(key) && same(ours.get(key), value));
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && /^#-?\d+$/.test(value);
}

/** A number as it is sorted by: as a double, whichever way it was written. */
function shortened(value: number | string): number {
  return Number(Number(typeof value === 'string' ? value.slice(1) : value).toPrecision(12));
}

export function sorted(rows: readonly unknown[]): unknown[] {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' || isLong(value) ? shortened(value) : value;
  return (
    rows
      .map((row) => ({ row, texts: [JSON.stringify(row, rounded), JSON.stringify(row)] as const }))
      // Whole numbers beyond 2^53 are rounded to the same text: these by all of their digits.
      .sort((a, b) => comparison(a.texts[0], b.texts[0]) || comparison(a.texts[1], b.texts[1]))
      .map(({ row }) => row)
  );
}

function comparison(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export function typeName(type: SqlType): string {
  if (type.kind === 'ARRAY' || type.kind === 'RANGE') return `${type.kind}<${typeName(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  return `STRUCT<${type.fields.map((field) => [field.name, typeName(field.type)].filter(Boolean).join(' ')).join(', ')}>`;
}
