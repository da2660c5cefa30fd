/** What one resolution shares: fresh column ids, the scans that columns come from, and what is known of literals. */
import { step } from '../steps';
import { QueryError } from '../errors';
import type { Operand } from '../coercion';
import type { Column, ColumnRef, Cte, Expr, ResolvedLiteral } from '../resolved';
import type { Identifier, Span } from '../tree';
import type { SqlType, TableSchema } from '../types';
import type { Candidate } from './scope';
import type { Survey } from './survey';

/** Where a query's tables and parameters come from. */
export interface Environment {
  /** Exactly as written: table names keep their case. */
  findTable(path: readonly Identifier[]): TableSchema | undefined;
  readonly parameters: ReadonlyMap<string, SqlType>;
  /** The table probably meant by a name that no table has. */
  suggestTable?(name: string): string | undefined;
  /** Called with each name that nothing has, and what could be named in its place. */
  onUnknown?(name: string, candidates: Candidates): void;
}

/** What could be named in a place. */
export type Candidates =
  | {
      readonly kind: 'expression';
      readonly names: readonly Candidate[];
      /** Whether calls of aggregates and of window functions may occur there. */
      readonly aggregates: boolean;
      readonly windows: boolean;
    }
  /** Behind a dot. */
  | { readonly kind: 'member'; readonly names: readonly Candidate[] }
  /** Beside the tables of the environment. */
  | { readonly kind: 'table'; readonly ctes: readonly string[] };

/** CTE names visible at a place in the query; inner ones hide outer ones. */
export interface CteScope {
  readonly names: Map<string, Cte>;
  readonly parent: CteScope | null;
}

export class Session {
  #nextColumn = 1;
  #nextCte = 1;
  /** NULL and `[]` before anything gave them a type. */
  readonly #untyped = new WeakSet<Expr>();
  /** Literals whose type was written: they convert like columns. */
  readonly #explicit = new WeakSet<Expr>();
  /** Columns that are nothing but a literal: in UNION they convert like it. */
  readonly #literals = new WeakMap<Column, Expr>();
  /** Columns of scans that were not read yet; the scan lists a column only once it is. */
  readonly #unread = new Map<number, () => void>();
  readonly parameters: ReadonlyMap<string, SqlType>;
  readonly budget = new Budget();
  /** Texts may have a collation, which a conversion to the type that they have takes away. */
  readonly collates: boolean;

  constructor(
    readonly environment: Environment,
    readonly text: string,
    /** null: the first fault ends the resolution. */
    readonly survey: Survey | null = null,
  ) {
    this.collates = /\bcollate\b/i.test(text);
    this.parameters = new Map([...environment.parameters].map(([name, type]) => [name.toLowerCase(), type]));
  }

  column(name: string | null, type: SqlType): Column {
    step();
    this.budget.columns(1);
    return { id: this.#nextColumn++, name: name ?? '', type };
  }

  /** The id that the next column will have: columns made between two calls have ids between their answers. */
  mark(): number {
    return this.#nextColumn;
  }

  cteId(): number {
    return this.#nextCte++;
  }

  /** `onFirstRead` runs when a query first reads the column. */
  deferred(column: Column, onFirstRead: () => void): Column {
    this.#unread.set(column.id, onFirstRead);
    return column;
  }

  ref(column: Column, span: Span): ColumnRef {
    if (this.survey?.isUnknown(column) === true) this.survey.useUnknown();
    const onFirstRead = this.#unread.get(column.id);
    if (onFirstRead !== undefined) {
      this.#unread.delete(column.id);
      onFirstRead();
    }
    return { kind: 'column', column, type: column.type, span };
  }

  /** An untyped NULL; INT64 until it meets another type. */
  nullLiteral(span: Span): ResolvedLiteral {
    const literal: ResolvedLiteral = { kind: 'literal', type: { kind: 'INT64' }, value: null, span };
    this.#untyped.add(literal);
    return literal;
  }

  markUntyped<E extends Expr>(expr: E): E {
    this.#untyped.add(expr);
    return expr;
  }

  markExplicit<E extends Expr>(expr: E): E {
    this.#explicit.add(expr);
    return expr;
  }

  isUntyped(expr: Expr): boolean {
    return this.#untyped.has(expr);
  }

  isExplicit(expr: Expr): boolean {
    return this.#explicit.has(expr);
  }

  /** How an expression behaves as an operand: what may be converted, and how freely. */
  operand(expr: Expr): Operand {
    const { type } = expr;
    if (this.#untyped.has(expr)) return { type, form: type.kind === 'ARRAY' ? 'empty' : 'null' };
    if (expr.kind === 'parameter') return { type, form: 'parameter' };
    if (expr.kind === 'make_struct') {
      if (this.#explicit.has(expr)) return { type, form: 'value' };
      return { type, form: 'value', fields: expr.fields.map((field) => this.operand(field)) };
    }
    if (this.isConstant(expr) && !this.#explicit.has(expr))
      return expr.kind === 'literal' ? { type, form: 'literal', literal: expr } : { type, form: 'literal' };
    return { type, form: 'value' };
  }

  /** A literal, or an array of nothing but literals. */
  isConstant(expr: Expr): boolean {
    if (expr.kind === 'literal') return true;
    if (expr.kind === 'make_array') return expr.elements.every((element) => this.isConstant(element));
    return expr.kind === 'make_struct' && expr.fields.every((field) => this.isConstant(field));
  }

  /** Does `work`; in a survey `instead` where it fails. */
  recover<T>(work: () => T, instead: () => T): T {
    return this.survey === null ? work() : this.survey.recover(work, instead);
  }

  /** What a survey goes on with in the place of an expression at fault: a NULL fits everywhere. */
  unknownExpr(span: Span): ResolvedLiteral {
    const literal = this.nullLiteral(span);
    this.survey?.markUnknown(literal);
    return literal;
  }

  rememberLiteral(column: Column, expr: Expr): void {
    if (this.survey?.isUnknown(expr) === true) this.survey.markUnknown(column);
    const operand = this.operand(expr);
    if (operand.form !== 'value' || operand.fields !== undefined) this.#literals.set(column, expr);
  }

  /** What a select item was, for a set operation right above it. */
  operandOfColumn(column: Column): Operand {
    const expr = this.#literals.get(column);
    return expr === undefined ? { type: column.type, form: 'value' } : this.operand(expr);
  }

  /** The literal that a column always is, so that it can be converted like one. */
  literalExpr(column: Column): Expr | undefined {
    const expr = this.#literals.get(column);
    return expr !== undefined && this.isConstant(expr) ? expr : undefined;
  }
}

/** An error of meaning at a place. */
export function invalid(message: string, span: Span): QueryError {
  return new QueryError('invalidQuery', message, span);
}

// ------------------------------------------------------------------------------------------
// Sizes that multiply where a text only grows: `SELECT a.*, b.*` of the CTE before it has twice its columns, and `STRUCT(s, s)` twice its
// fields. Thirty lines of either would fill the memory before anything ran.

/** Columns that a query has in all its parts together. */
export const MAX_COLUMNS = 10_000;
/** Fields of one struct, those of inner structs included: far beyond what BigQuery's tables of logs have. */
export const MAX_FIELDS = 2_000;
/** Fields of all the structs that a query makes or hands to functions. */
const MAX_ALL_FIELDS = 100_000;
/** Columns of a result with their fields, as BigQuery bounds them. */
export const MAX_RESULT_FIELDS = 10_000;

const known = new WeakMap<SqlType, number>();

/** How many scalars a value has, an array's elements counted once. */
export function sizeOf(type: SqlType): number {
  if (type.kind === 'ARRAY') return sizeOf(type.element);
  if (type.kind !== 'STRUCT') return 1;
  let size = known.get(type);
  if (size === undefined) {
    size = type.fields.reduce((sum, field) => sum + sizeOf(field.type), 1);
    known.set(type, size);
  }
  return size;
}

/** What one query has spent of the bounds. */
export class Budget {
  #fields = 0;
  #columns = 0;

  /** Columns made, or listed by a star. @throws QueryError `resourcesExceeded` */
  columns(count: number): void {
    this.#columns += count;
    if (this.#columns > MAX_COLUMNS) {
      throw tooLarge(`A query has at most ${MAX_COLUMNS} columns in all its parts together.`, null);
    }
  }

  /** @throws QueryError `resourcesExceeded` */
  value(type: SqlType, span: Span): void {
    const size = sizeOf(type);
    if (size > MAX_FIELDS) throw tooLarge(`A struct has at most ${MAX_FIELDS} fields, inner ones included.`, span);
    if (size > 1 && (this.#fields += size) > MAX_ALL_FIELDS) {
      throw tooLarge('The query handles too many fields of structs. Name the fields that it needs.', span);
    }
  }
}

export function tooLarge(message: string, span: Span | null): QueryError {
  return new QueryError('resourcesExceeded', message, span);
}
