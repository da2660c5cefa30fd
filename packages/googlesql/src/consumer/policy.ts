/**
 * What a consumer query reads and calls, checked on the syntax tree alone (docs/sandbox.md). No type is needed: whether a
 * path in FROM is a table or an array follows from names and their scope.
 */
import { QueryError } from '../errors';
import type { ParsedQuery } from '../parser';
import { findFunction } from '../functions/catalogue';
import { signatureOf } from '../functions/signature';
import { functionNotFound, nearest, nearestNames, suggestion } from '../resolver';
import { SCHEMA_HINT, secondStatementError } from '../statement';
import { firstName, fromPaths, type FromPath } from '../from-paths';
import { insteadOfTableFunction } from '../functions/other-dialects';
import type { Call, Identifier, Parameter, Query, Span, TablePath } from '../tree';
import { type SyntaxNode, walk } from '../tree-walk';
import { allowedFunctionNames, isAllowedFunction } from './functions';

/** Of the stored query whose tables a consumer query may read. */
export interface Stored {
  /** Names of its CTE tables, in its order. */
  readonly cteTables: readonly string[];
  readonly parameters: readonly { readonly name: string }[];
}

/** What the walls after this one need to know of an accepted query. */
export interface Reading {
  /** CTE tables of the stored query that are read, as the stored query spells them, in its order. */
  readonly tables: readonly string[];
  /** Every FROM name in lower case, parts joined by dots: what a second parser may see as a table. */
  readonly fromNames: ReadonlySet<string>;
  /** Every called function in lower case, with its namespace: what a second parser may see as a function. */
  readonly functionNames: ReadonlySet<string>;
  /** Named parameters as written. */
  readonly parameters: readonly string[];
}

/**
 * Reads a consumer query against the CTE tables and the declared parameters of a stored query. All faults are
 * collected; of the gravest kind, the one that stands first in the text is thrown.
 *
 * @throws QueryError `invalidQuery` for `?` and an undeclared parameter; else `sandboxViolation` for an outside table, a
 *   function off the list, `@@`, WITH RECURSIVE and a second statement
 */
export function readConsumerQuery(
  { query, parameters, second, text }: Pick<ParsedQuery, 'query' | 'parameters' | 'second'> & { readonly text: string },
  stored: Stored,
): Reading {
  const { reading, faults } = readAll({ query, parameters, second, text }, stored);
  const [error] = faults;
  if (error !== undefined) throw error();
  return reading;
}

/** As `readConsumerQuery`, but returns at most twenty faults: the gravest kind first, each kind in the order of the text. */
export function surveyConsumerQuery(
  parsed: Parameters<typeof readConsumerQuery>[0],
  stored: Stored,
): { readonly reading: Reading; readonly faults: readonly QueryError[] } {
  const { reading, faults } = readAll(parsed, stored);
  return { reading, faults: faults.slice(0, MOST_FAULTS).map((error) => error()) };
}

function readAll(
  { query, parameters, second, text }: Parameters<typeof readConsumerQuery>[0],
  stored: Stored,
): ReturnType<Reader['finish']> {
  const reader = new Reader(stored.cteTables);
  const declared = stored.parameters.map(({ name }) => name);
  for (const parameter of parameters) reader.parameter(parameter, declared);
  reader.query(query);
  if (second !== null) reader.fault(secondStatementError(second));
  return reader.finish(text);
}

const ESCAPES_HINT = 'The name of a table is written without escapes.';

/** Faults that are looked at closely. */
const MOST_FAULTS = 20;

class Reader {
  readonly #cteTables: readonly string[];
  readonly #read = new Set<string>();
  readonly #fromNames = new Set<string>();
  readonly #functionNames = new Set<string>();
  readonly #parameters = new Set<string>();
  /** With what makes the error: only that of one fault is made, since looking for names that are like another takes time. */
  readonly #faults: {
    readonly fault: QueryError['fault'];
    readonly start: number;
    readonly error: () => QueryError;
  }[] = [];
  /** `WEEK(MONDAY)` as a date part: it reads like a call. */
  readonly #weeks = new Set<SyntaxNode>();

  constructor(cteTables: readonly string[]) {
    this.#cteTables = cteTables;
  }

  /** @param text what the spans count in */
  finish(text: string): { readonly reading: Reading; readonly faults: readonly (() => QueryError)[] } {
    const of = (fault: QueryError['fault']): readonly (() => QueryError)[] =>
      this.#faults
        .filter((one) => one.fault === fault)
        .sort((a, b) => a.start - b.start)
        .map((one) => () => withHint(one.error(), text));
    const reading = {
      tables: this.#cteTables.filter((name) => this.#read.has(name.toLowerCase())),
      fromNames: this.#fromNames,
      functionNames: this.#functionNames,
      parameters: [...this.#parameters],
    };
    return { reading, faults: [...of('invalidQuery'), ...of('sandboxViolation')] };
  }

  fault(error: QueryError): void {
    this.#faults.push({ fault: error.fault, start: error.span?.start ?? 0, error: () => error });
  }

  #violation(message: string, span: Span, allowed?: readonly string[], hint?: string): void {
    const details = { ...(allowed === undefined ? {} : { allowed }), ...(hint === undefined ? {} : { hint }) };
    this.fault(new QueryError('sandboxViolation', message, span, details));
  }

  parameter({ form, name, span }: Parameter, declared: readonly string[]): void {
    if (form === 'system') {
      this.#violation(`System variable @@${name} is not allowed.`, span);
    } else if (form === 'positional') {
      const message = 'Positional parameters are not supported: name them, as in @name.';
      this.fault(new QueryError('invalidQuery', message, span, { allowed: declared.map((one) => `@${one}`) }));
    } else if (declared.some((one) => one.toLowerCase() === name.toLowerCase())) {
      this.#parameters.add(name);
    } else {
      const message = `Parameter @${name} is not declared by this endpoint.`;
      this.fault(new QueryError('invalidQuery', message, span, { allowed: declared.map((one) => `@${one}`) }));
    }
  }

  query(query: Query): void {
    const names = this.#cteTables.map((name) => name.toLowerCase());
    const paths = new Map<SyntaxNode, FromPath>(fromPaths(query, names).map((path) => [path.node, path]));
    walk(query, (node) => {
      switch (node.kind) {
        case 'query':
        case 'pipe_with':
          if (node.with?.recursive === true)
            this.#violation('WITH RECURSIVE is not allowed in a consumer query.', node.with.span);
          break;
        case 'call':
          this.#call(node);
          break;
        case 'table_path':
          this.#tablePath(node, paths.get(node));
          break;
        case 'table_function':
          this.#violation(
            `Table function ${written(node.path)} is not allowed. Tables that may be read: ${this.#cteTables.join(', ')}.`,
            node.span,
            this.#cteTables,
            insteadOfTableFunction(node.path),
          );
          break;
        default:
          break;
      }
    });
  }

  /** A path that was not found in any scope is refused like a table outside. */
  #tablePath(node: TablePath, path: FromPath | undefined): void {
    this.#fromNames.add(node.path.map((part) => part.name.toLowerCase()).join('.'));
    if (path?.names === 'array') return;
    const isWildcard = node.path.some(({ name }) => name.includes('*'));
    if (path?.names !== 'cte' || isWildcard || !node.path.every(path.entry === null ? isPlain : isAsWritten)) {
      const catalogue = node.path.some(({ name }) => /\bINFORMATION_SCHEMA\b/i.test(name));
      const escaped = node.path.some(({ quoted, span, name }) => quoted && span.end - span.start !== name.length + 2);
      this.#violation(
        `Table ${written(node.path)} may not be read here. Tables that may be read: ${this.#cteTables.join(', ')}.`,
        pathSpan(node.path),
        this.#cteTables,
        catalogue ? SCHEMA_HINT : escaped ? ESCAPES_HINT : undefined,
      );
    } else if (path.entry === null) {
      this.#read.add(firstName(node));
    }
  }

  /** A function that GoogleSQL does not have is reported as that; it is refused like any other that is not on the list. */
  #call(call: Call): void {
    const { path } = call;
    const name = path.map((part) => part.name).join('.');
    this.#functionNames.add(name.toLowerCase());
    for (const { expression } of call.arguments)
      if (isWeek(expression) && takesDatePart(call)) this.#weeks.add(expression);
    if (isAllowedFunction(path) || this.#weeks.has(call)) return;
    const unknown = path.length === 1 && path[0]?.quoted === false && findFunction(name) === undefined;
    const span = pathSpan(path);
    const error = (): QueryError => {
      if (unknown) return functionNotFound('sandboxViolation', name, span, allowedFunctionNames());
      const allowed = nearestNames(name, allowedFunctionNames());
      return new QueryError('sandboxViolation', `Function ${written(path)} is not allowed.`, span, { allowed });
    };
    this.#faults.push({ fault: 'sandboxViolation', start: span.start, error });
  }
}

const WEEKDAYS = new Set(['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']);

function isWeek(node: SyntaxNode): boolean {
  if (node.kind !== 'call' || node.path.length !== 1 || node.path[0]?.name.toUpperCase() !== 'WEEK') return false;
  const [day, ...others] = node.arguments;
  if (day?.expression.kind !== 'path' || others.length > 0 || node.over !== null) return false;
  const [name, ...fields] = day.expression.parts;
  return fields.length === 0 && name !== undefined && !name.quoted && WEEKDAYS.has(name.name.toUpperCase());
}

function takesDatePart({ path }: Call): boolean {
  const name = path.map((part) => part.name).join('.');
  const signatures = findFunction(name)?.signatures ?? [];
  return signatures.some((one) => signatureOf(one).parameters.some(({ pattern }) => pattern.kind === 'part'));
}

/**
 * Only ASCII letters, digits and `_` can name a CTE table: a look-alike from another alphabet never does, nor a name
 * spelt with escapes, which is longer in the text than its value and its backticks.
 */
function isPlain({ name, quoted, span }: Identifier): boolean {
  return /^[A-Za-z0-9_]+$/.test(name) && span.end - span.start === name.length + (quoted ? 2 : 0);
}

/** A WITH of the query itself may give any name in printable ASCII, as `errors.by-hour`, that is spelt without escapes. */
function isAsWritten({ name, quoted, span }: Identifier): boolean {
  return /^[\x20-\x7e]+$/.test(name) && span.end - span.start === name.length + (quoted ? 2 : 0);
}

/** The refusal with the allowed name that was probably meant. */
function withHint(error: QueryError, text: string): QueryError {
  const { fault, message, span, details } = error;
  if (span === null || details.allowed === undefined || details.hint !== undefined) return error;
  const name = text.slice(span.start, span.end);
  const near = nearest(name, details.allowed);
  return near === undefined ? error : new QueryError(fault, message, span, { ...details, ...suggestion(name, near) });
}

function written(path: readonly Identifier[]): string {
  return `"${path.map((part) => part.name).join('.')}"`;
}

function pathSpan(path: readonly Identifier[]): Span {
  return { start: path[0]?.span.start ?? 0, end: path.at(-1)?.span.end ?? 0 };
}
