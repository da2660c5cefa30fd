/**
 * A resolved query as one DuckDB SELECT with BigQuery's meaning. Nothing is ever matched by its text: what the tree does
 * not say, or what the tables here have no row for, is refused.
 */

import { QueryError, type NamedType, type SqlType, type TableSchema } from '@logquay/googlesql/types';
import { type Column, type Cte, type Expr, type Relation, type ResolvedQuery, NO_SPAN } from '@logquay/googlesql';
import type { Part } from '../data/part';
import type { Fence, LineForm } from '../contract/contract';
import { Context, columnName, type PrintScan } from './context';
import { ctesReadBy, materializedCtes } from './relations/ctes';
import { printCsvLine, printColumns } from './relations/typed-output';
import { isPlain, type JsonForm, type OutputValue, printRow, storedColumns } from './relations/json-output';
import { type OwnRows, withOwnRows } from './relations/own-rows';
import { type OverParts, overParts, readsPlainTables, tablesOverParts, type PartsOf } from './parts/over-parts';
import { asComputed, physicalType, withLists, type ListShape } from './parts/physical-type';
import { storedValue } from './parts/part-scan';
import { printQuery, printRelation } from './relations/relations';
import { selectList } from './select-list';
import { suffixFilters } from './suffix-filters';
import { physicalFieldNames, quoteName } from '../sql';
import { SizeEstimates } from './expressions/makers';
import { renumber } from './known-parameters';

export { CLOCK_PARAMETER } from './context';
export type { ListShape } from './parts/physical-type';
export { leavesOf } from './relations/typed-output';
export { formOf, instantOf, type ParameterForm, textParameterOf, withKnownParameters } from './known-parameters';
export { setUpStatements } from './functions/macros';
export { runtimeError } from './runtime-errors';
export { AGGREGATES } from './functions/aggregate-functions';
export { SCALARS } from './functions/function-table';

export interface TranslateOptions {
  /**
   * The relations that hold a table, at least one. No array in their columns, at any depth, is NULL or holds a NULL, as in
   * BigQuery's own tables.
   */
  parts(table: TableSchema): readonly Part[];
  /** BYTES come out as null. */
  readonly hideBytes: boolean;
  /** TIMESTAMP comes out as ISO 8601 text; default: as microseconds. */
  readonly isoTimestamps?: boolean;
  /** The rows are sorted by their texts; default: they are not. */
  readonly sorted?: boolean;
  /** Default: texts of JSON. */
  readonly output?: Output;
  /** Give back at most this many rows; null: all. */
  readonly maxRows: number | null;
  /** null: nothing has to be kept from the caller. */
  readonly fence?: Fence | null;
  /** Of the tables that a wildcard names; none: it is no wildcard, or all of its tables are to be read. */
  readonly suffixesOf?: (table: TableSchema) => readonly string[];
}

/** A text of DuckDB's, and the name of each `$n` of it in order. `CLOCK_PARAMETER` is the clock, microseconds since the epoch as INT64. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/**
 * What a statement yields: one VARCHAR column `row`, of each row a line in some form, its end included; or the columns themselves, for
 * files (docs/querying.md). `text` is JSON whose brackets may lack (`Translation.brackets`).
 */
export type Output = 'text' | LineForm | 'columns';

/** Makes a temporary table. */
export interface TableStatement extends Statement {
  /** Yields how many bytes the rows of a caller take in it, as one BIGINT; null: it is made of other tables' rows. */
  readonly bytes: Statement | null;
}

export interface Translation extends Statement {
  /** Make the temporary tables that `sql` reads, in order: to be run in one transaction with it. */
  readonly before: readonly TableStatement[];
  readonly columns: readonly NamedType[];
  /** The brackets that values of the row lack, by their places; null: none. */
  readonly brackets: readonly (ListShape | null)[] | null;
  /** Names of the tables that it reads. */
  readonly tables: readonly string[];
  /** Of wildcards among them what gives the suffixes of the tables that it needs, `{"suffix":…}` each, together. */
  readonly suffixes: ReadonlyMap<string, readonly Statement[]>;
}

/**
 * Translates `query`. Throws QueryError `invalidQuery` for what the embedded engine cannot do, with the construct's span.
 */
export function translate(query: ResolvedQuery, options: TranslateOptions): Translation {
  const filters = suffixFilters(query, options.suffixesOf ?? (() => []));
  const plain = { ...options, hideBytes: false, maxRows: null, fence: null, output: 'text' } as const;
  const statements = Array.from(
    filters,
    ([name, queries]) => [name, queries.map((filter) => translateAll(filter, plain))] as const,
  );
  return { ...translateAll(query, options), suffixes: new Map(statements) };
}

function translateAll(query: ResolvedQuery, options: TranslateOptions): Translation {
  const written = { ...query, relation: cutOff(query.relation, options.maxRows) };
  const partsOf: PartsOf = (table) => options.parts(table);
  const fenced = options.fence ? fencedIn(written, options.fence, partsOf, options) : noTables(written);
  const { query: limited, isTable } = fenced;
  const isWorthIt = materializedCtes(limited);
  const isComputedOnce = (cte: Cte): boolean => isTable(cte) || isWorthIt(cte);
  const ctes = { ...fenced, isComputedOnce, areTables: limited.ctes.some(isTable) };
  const asLists = (): Translation =>
    print({ query: limited, unbracketed: new Map() }, listScan(partsOf), ctes, options).translation;
  if (readsPlainTables(limited, partsOf)) return asLists();
  // Whether a query is taken must not depend on the shape that rows of others gave the parts.
  const refusing = options.fence ? asLists() : null;
  try {
    // Texts are sorted, and lines sent, as they are.
    const asTheyAre = options.sorted === true || (options.output ?? 'text') !== 'text';
    const leavesBrackets = asTheyAre ? (): boolean => false : isPlain;
    const over = ctes.areTables
      ? tablesOverParts(limited, partsOf, isComputedOnce, fenced.isFirst)
      : overParts(limited, partsOf, isComputedOnce, leavesBrackets);
    const scan: PrintScan = (table, columns) => over.scans.get(table)!.print(columns);
    return print(over, scan, ctes, options).translation;
  } catch (error) {
    if (error instanceof QueryError) return refusing ?? asLists();
    throw error;
  }
}

const noTables = (query: ResolvedQuery): OwnRows => ({
  query,
  isTable: () => false,
  isFirst: () => false,
  readsOrder: false,
  canFail: () => false,
});

/** The query in two steps where it can fail, by its meaning or by what it is printed as. */
function fencedIn(query: ResolvedQuery, { consumer }: Fence, partsOf: PartsOf, options: TranslateOptions): OwnRows {
  const ctes = { ...noTables(query), isComputedOnce: materializedCtes(query), areTables: false };
  const lists = { query, unbracketed: new Map() };
  const printed = print(lists, listScan(partsOf), ctes, options);
  return withOwnRows(query, consumer, printed.failing) ?? noTables(query);
}

/** Scans of tables with all their parts as lists. */
function listScan(partsOf: PartsOf): PrintScan {
  return (table, columns) => {
    const types = new Map(table.columns.map(({ name, type }) => [name, type]));
    const scans = partsOf(table).map(({ relation, single }) => {
      const list = columns.map(({ column, source }) => {
        const type = types.get(source) ?? column.type;
        const value = withLists(
          storedValue([source], type.kind === 'STRUCT'),
          physicalType(type, source, single),
          type,
        );
        return `${asComputed(value, type)} AS ${columnName(column.id)}`;
      });
      return `${selectList(list)} FROM ${relation} AS "part"`;
    });
    return scans.join(' UNION ALL ');
  };
}

/** CTEs that are computed once, and not written out where they are read. */
interface ComputedCtes extends Omit<OwnRows, 'query'> {
  readonly isComputedOnce: (cte: Cte) => boolean;
  /** They are temporary tables, computed before the statement. */
  readonly areTables: boolean;
}

function print(
  { query, unbracketed }: Pick<OverParts, 'query' | 'unbracketed'>,
  printScan: PrintScan,
  { isComputedOnce, areTables, isTable, readsOrder, canFail }: ComputedCtes,
  { hideBytes, isoTimestamps = false, sorted = false, output = 'text' }: TranslateOptions,
): { readonly translation: Translation; readonly failing: ReadonlySet<Expr> } {
  const read = new Set<string>();
  const scan: PrintScan = (table, columns) => {
    read.add(table.name);
    return printScan(table, columns);
  };
  const estimates = new SizeEstimates(query);
  const values = outputValues(query, storedColumns(query));
  const form = { hideBytes, isoTimestamps };
  const failing = new Set<Expr>();
  const ctx = new Context(scan, isComputedOnce, areTables, estimates, failing);
  ctx.inOrder = canFail(null);
  const shown = query.output.map(({ column }) => column.id);
  const relation = printRelation(ctx, query.relation, new Set(shown), true);
  const body = `SELECT ${printOutput(ctx, values, form, output)} FROM (${relation})${sorted ? ' ORDER BY 1' : ''}`;
  const ctes = printCtes(ctx, canFail);
  const withCtes = areTables || ctes.length === 0 ? '' : `WITH ${ctes.map(asCte).join(', ')} `;
  const asTable = (cte: PrintedCte): TableStatement => ({
    ...renumber(tableOf(cte, isTable(cte.cte) && readsOrder), ctx.parameters),
    bytes: isTable(cte.cte) ? renumber(bytesOf(cte), ctx.parameters) : null,
  });
  const translation: Translation = {
    ...renumber(`${withCtes}${body}`, ctx.parameters),
    before: areTables ? ctes.map(asTable) : [],
    columns: values.map(({ name, type }, i) => ({ name, type: unbracketed.get(i)?.type ?? type })),
    brackets: unbracketed.size === 0 ? null : values.map((_, i) => unbracketed.get(i)?.shape ?? null),
    tables: [...read],
    suffixes: new Map(),
  };
  return { translation, failing };
}

function printOutput(ctx: Context, values: readonly OutputValue[], form: JsonForm, output: Output): string {
  switch (output) {
    case 'text':
    case 'json':
      return `${printRow(ctx, values, form)} || chr(10) AS "row"`;
    case 'csv':
    case 'escaped csv':
      return `${printCsvLine(ctx, values, form, output === 'escaped csv')} AS "row"`;
    case 'columns':
      return printColumns(ctx, values, form);
  }
}

/** What each key of a row's object reads. The fields of a SELECT AS STRUCT are columns of the result. */
function outputValues({ output, valueTable }: ResolvedQuery, stored: ReadonlySet<number>): OutputValue[] {
  let unnamed = 0;
  const named = (name: string | null): string => name ?? `f${unnamed++}_`;
  const only = output[0];
  if (valueTable && only?.column.type.kind === 'STRUCT') {
    const { fields } = only.column.type;
    const physical = physicalFieldNames(fields);
    return fields.map((field, i) => ({
      name: named(field.name),
      type: field.type,
      sql: `${columnName(only.column.id)}.${quoteName(physical[i]!)}`,
      stored: stored.has(only.column.id),
    }));
  }
  return output.map(({ name, column }) => ({
    name: named(name),
    type: column.type,
    sql: columnName(column.id),
    stored: stored.has(column.id),
  }));
}

function cutOff(relation: Relation, maxRows: number | null): Relation {
  if (maxRows === null) return relation;
  if (relation.kind === 'limit' && relation.count.kind === 'literal' && Number(relation.count.value) <= maxRows) {
    return relation;
  }
  const count = { kind: 'literal', type: { kind: 'INT64' }, value: String(maxRows), span: NO_SPAN } as const;
  return { kind: 'limit', input: relation, count, offset: null };
}

interface PrintedCte {
  readonly cte: Cte;
  readonly name: string;
  /** That it shows. */
  readonly columns: readonly Column[];
  readonly select: string;
}

const asCte = ({ name, select }: PrintedCte): string => `${name} AS MATERIALIZED (${select})`;

/** @param inOrder its rows lie as their values say, not as they lie among others: times first */
function tableOf({ name, columns, select }: PrintedCte, inOrder: boolean): string {
  const isTime = ({ type }: Column): number => (type.kind === 'TIMESTAMP' ? 0 : 1);
  const keys = [...columns].sort((a, b) => isTime(a) - isTime(b)).map(({ id }) => columnName(id));
  const order = inOrder && keys.length > 0 ? ` ORDER BY ${keys.join(', ')}` : '';
  return `CREATE TEMPORARY TABLE ${name} AS ${select}${order}`;
}

function bytesOf({ columns, select }: PrintedCte): string {
  const sizes = columns.map(({ id, type }) => sizeOf(columnName(id), type)).join(' + ') || '1';
  return `SELECT CAST(coalesce(sum(${sizes}), 0) AS BIGINT) AS "bytes" FROM (${select})`;
}

/** Bytes of a value in memory, about. */
function sizeOf(name: string, { kind }: SqlType): string {
  if (['ARRAY', 'STRUCT'].includes(kind)) return `coalesce(strlen(CAST(${name} AS VARCHAR)), 0) + 16`;
  const isText = ['STRING', 'GEOGRAPHY', 'JSON', 'BYTES', 'BIGNUMERIC'].includes(kind);
  if (!isText) return '16';
  const isBytes = kind === 'BYTES' || kind === 'BIGNUMERIC';
  return `coalesce(${isBytes ? 'octet_length' : 'strlen'}(${name}), 0) + 16`;
}

/**
 * The CTEs that are computed once. One is printed after all that read it, which may want columns of it, and stands before them.
 *
 * @param canFail whether one can
 */
function printCtes(ctx: Context, canFail: (cte: Cte) => boolean): readonly PrintedCte[] {
  const texts: PrintedCte[] = [];
  const printed = new Set<number>();
  for (;;) {
    const waiting = [...ctx.materialized.values()].filter(({ cte }) => !printed.has(cte.id));
    const next = waiting.find(
      ({ cte }) => !waiting.some((other) => other.cte !== cte && ctesReadBy(other.cte).has(cte.id)),
    );
    if (next === undefined) break;
    const { cte, wanted } = next;
    printed.add(cte.id);
    const all = cte.query.output.map((o) => o.column);
    const columns = all.filter((c, i) => isFirst(c, i, all) && wanted.has(c.id));
    ctx.inOrder = canFail(cte);
    const body = printQuery(ctx, cte.query, wanted, false);
    const list = selectList(columns.map((c) => columnName(c.id)));
    texts.unshift({ cte, name: ctx.cteName(cte.id), columns, select: `${list} FROM (${body})` });
  }
  return texts;
}

function isFirst(column: Column, i: number, all: readonly Column[]): boolean {
  return all.findIndex((c) => c.id === column.id) === i;
}
