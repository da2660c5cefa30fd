/**
 * What a consumer query reads and calls, judged on the syntax tree alone (docs/sandbox.md).
 * No type is needed here: whether a FROM path is a table or an array of a row follows from names and their scope.
 */
import { QueryError } from '../errors';
import type { ParsedQuery } from '../googlesql/parser';
import { nearest } from '../googlesql/resolver/suggestion';
import { secondStatementError } from '../googlesql/statement';
import type {
  Call,
  Expression,
  FromItem,
  GroupingItem,
  Identifier,
  OrderItem,
  Parameter,
  Query,
  QueryBody,
  Select,
  SelectItem,
  Span,
  TablePath,
  WindowSpecification,
  WithClause,
} from '../googlesql/syntax';
import { allowedFunctionNames, isAllowedFunction } from './functions';
import type { StoredQuery } from './stored-query';

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

/** A name that a WITH made visible: a CTE table of the stored query, or one of the consumer's own. */
type Visible = ReadonlyMap<string, 'stored' | 'consumer'>;
type Aliases = ReadonlySet<string>;

const NO_ALIASES: Aliases = new Set();

/**
 * Reads a consumer query against the CTE tables and the declared parameters of a stored query. All faults are
 * collected; of the gravest kind, the one that stands first in the text is thrown.
 *
 * @throws QueryError `invalidQuery` for `?` and an undeclared parameter; else `sandboxViolation` for an outside table, a
 *   function off the list, `@@`, WITH RECURSIVE and a second statement
 */
export function readConsumerQuery(
  { query, parameters, second, text }: Pick<ParsedQuery, 'query' | 'parameters' | 'second'> & { readonly text: string },
  stored: Pick<StoredQuery, 'cteTables' | 'parameters'>,
): Reading {
  const reader = new Reader(stored.cteTables);
  const declared = stored.parameters.map(({ name }) => name);
  for (const parameter of parameters) reader.parameter(parameter, declared);
  reader.query(query, new Map(stored.cteTables.map((name) => [name.toLowerCase(), 'stored'])), NO_ALIASES);
  if (second !== null) reader.fault(secondStatementError(second));
  return reader.finish(text);
}

class Reader {
  readonly #cteTables: readonly string[];
  readonly #read = new Set<string>();
  readonly #fromNames = new Set<string>();
  readonly #functionNames = new Set<string>();
  readonly #parameters = new Set<string>();
  readonly #faults: QueryError[] = [];

  constructor(cteTables: readonly string[]) {
    this.#cteTables = cteTables;
  }

  /** @param text what the spans count in */
  finish(text: string): Reading {
    const first = (fault: QueryError['fault']): QueryError | undefined =>
      this.#faults
        .filter((error) => error.fault === fault)
        .sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0))[0];
    const error = first('invalidQuery') ?? first('sandboxViolation');
    if (error !== undefined) throw withHint(error, text);
    return {
      tables: this.#cteTables.filter((name) => this.#read.has(name.toLowerCase())),
      fromNames: this.#fromNames,
      functionNames: this.#functionNames,
      parameters: [...this.#parameters],
    };
  }

  fault(error: QueryError): void {
    this.#faults.push(error);
  }

  #violation(message: string, span: Span, allowed?: readonly string[]): void {
    this.fault(new QueryError('sandboxViolation', message, span, allowed === undefined ? {} : { allowed }));
  }

  parameter({ form, name, span }: Parameter, declared: readonly string[]): void {
    if (form === 'system') {
      this.#violation(`System variable @@${name} is not allowed.`, span);
    } else if (form === 'positional') {
      const message = 'Positional parameters are not supported: name them, as in @name.';
      this.#faults.push(new QueryError('invalidQuery', message, span, { allowed: declared.map((one) => `@${one}`) }));
    } else if (declared.some((one) => one.toLowerCase() === name.toLowerCase())) {
      this.#parameters.add(name);
    } else {
      const message = `Parameter @${name} is not declared by this endpoint.`;
      this.#faults.push(new QueryError('invalidQuery', message, span, { allowed: declared.map((one) => `@${one}`) }));
    }
  }

  query(query: Query, visible: Visible, outer: Aliases): void {
    const inner = query.with === null ? visible : this.#with(query.with, visible);
    const aliases = this.#body(query.body, inner, outer);
    this.#order(query.orderBy, inner, aliases);
    if (query.limit !== null) {
      this.#expression(query.limit.count, inner, outer);
      if (query.limit.offset !== null) this.#expression(query.limit.offset, inner, outer);
    }
  }

  /** A name is visible to later siblings and to the body, not to itself; a CTE body sees no alias. */
  #with(clause: WithClause, visible: Visible): Visible {
    if (clause.recursive) {
      this.#violation('WITH RECURSIVE is not allowed in a consumer query.', clause.span);
    }
    const inner = new Map(visible);
    for (const entry of clause.entries) {
      this.query(entry.query, new Map(inner), NO_ALIASES);
      inner.set(entry.name.name.toLowerCase(), 'consumer');
    }
    return inner;
  }

  /** Returns the aliases that an ORDER BY behind the body sees. */
  #body(body: QueryBody, visible: Visible, outer: Aliases): Aliases {
    switch (body.kind) {
      case 'query':
        this.query(body, visible, outer);
        return outer;
      case 'set_operation':
        for (const input of body.inputs) this.#body(input, visible, outer);
        return outer;
      case 'select':
        return this.#select(body, visible, outer);
    }
  }

  #select(select: Select, visible: Visible, outer: Aliases): Aliases {
    const aliases = new Set(outer);
    if (select.from !== null) for (const alias of this.#from(select.from, visible, outer, aliases)) aliases.add(alias);
    for (const item of select.items) this.#selectItem(item, visible, aliases);
    for (const part of [select.where, select.having, select.qualify]) {
      if (part !== null) this.#expression(part, visible, aliases);
    }
    for (const item of select.groupBy?.items ?? []) this.#grouping(item, visible, aliases);
    for (const { window } of select.windows) this.#window(window, visible, aliases);
    return aliases;
  }

  #selectItem(item: SelectItem, visible: Visible, aliases: Aliases): void {
    if (item.kind === 'select_expression') {
      this.#expression(item.expression, visible, aliases);
      return;
    }
    if (item.of !== null) this.#expression(item.of, visible, aliases);
    for (const { expression } of item.replace) this.#expression(expression, visible, aliases);
  }

  #grouping(item: GroupingItem, visible: Visible, aliases: Aliases): void {
    switch (item.kind) {
      case 'expression':
        return this.#expression(item.expression, visible, aliases);
      case 'list':
        return item.expressions.forEach((expression) => this.#expression(expression, visible, aliases));
      case 'rollup':
      case 'cube':
        return item.sets.flat().forEach((expression) => this.#expression(expression, visible, aliases));
      case 'grouping_sets':
        return item.items.forEach((inner) => this.#grouping(inner, visible, aliases));
    }
  }

  // ------------------------------------------------------------------------------------------ FROM

  /**
   * Reads one FROM item and returns the aliases it brings. `outer` are rows of enclosing queries, `scope` those and
   * earlier items of the same FROM: an array path binds to `scope`, a FROM subquery is not lateral and sees `outer`.
   */
  #from(item: FromItem, visible: Visible, outer: Aliases, scope: Aliases): string[] {
    switch (item.kind) {
      case 'table_path':
        return this.#tablePath(item, visible, scope);
      case 'unnest':
        this.#expression(item.array, visible, scope);
        return aliasOf(item.alias);
      case 'subquery_item':
        this.query(item.query, visible, outer);
        return aliasOf(item.alias);
      case 'join': {
        const left = this.#from(item.left, visible, outer, scope);
        const right = this.#from(item.right, visible, outer, new Set([...scope, ...left]));
        const both = [...left, ...right];
        if (item.on !== null) this.#expression(item.on, visible, new Set([...scope, ...both]));
        return both;
      }
      // Google's analyser lets nothing inside the parentheses see an alias of the same FROM outside them.
      case 'parenthesised_join':
        return this.#from(item.item, visible, outer, outer);
      case 'pivot': {
        const input = new Set([...scope, ...this.#from(item.input, visible, outer, scope)]);
        for (const { expression } of item.aggregates) this.#expression(expression, visible, input);
        this.#expression(item.for, visible, input);
        for (const { expression } of item.in) this.#expression(expression, visible, input);
        return aliasOf(item.alias);
      }
      case 'unpivot':
        this.#from(item.input, visible, outer, scope);
        for (const { label } of item.in) if (label !== null) this.#expression(label, visible, scope);
        return aliasOf(item.alias);
      case 'table_function':
        this.#violation(
          `Table function ${written(item.path)} is not allowed. Tables that may be read: ${this.#cteTables.join(', ')}.`,
          item.span,
          this.#cteTables,
        );
        return aliasOf(item.alias);
    }
  }

  /** "A one-part name is always a table"; more parts are an array only if the first is an alias in scope. */
  #tablePath(item: TablePath, visible: Visible, scope: Aliases): string[] {
    const [first, ...rest] = item.path;
    const last = item.path.at(-1);
    if (first === undefined || last === undefined) throw new Error('A table path has at least one part.');
    const name = first.name.toLowerCase();
    this.#fromNames.add(item.path.map((part) => part.name.toLowerCase()).join('.'));
    if (rest.length === 0) {
      const origin = isPlain(first) ? visible.get(name) : undefined;
      if (origin === 'stored') this.#read.add(name);
      else if (origin === undefined) this.#outsideTable(item);
    } else if (!scope.has(name)) {
      this.#outsideTable(item);
    }
    return aliasOf(item.alias ?? last);
  }

  #outsideTable(item: TablePath): void {
    this.#violation(
      `Table ${written(item.path)} may not be read here. Tables that may be read: ${this.#cteTables.join(', ')}.`,
      pathSpan(item.path),
      this.#cteTables,
    );
  }

  // ----------------------------------------------------------------------------------- expressions

  #order(items: readonly OrderItem[], visible: Visible, aliases: Aliases): void {
    for (const item of items) this.#expression(item.expression, visible, aliases);
  }

  #window(window: WindowSpecification, visible: Visible, aliases: Aliases): void {
    for (const expression of window.partitionBy) this.#expression(expression, visible, aliases);
    this.#order(window.orderBy, visible, aliases);
    for (const bound of [window.frame?.from, window.frame?.to]) {
      if (bound?.offset) this.#expression(bound.offset, visible, aliases);
    }
  }

  #expression(start: Expression, visible: Visible, aliases: Aliases): void {
    let expression = start;
    // Chains such as a AND b AND c lean to the left and may be long: that side is walked, not recursed into.
    while (expression.kind === 'binary') {
      this.#expression(expression.right, visible, aliases);
      expression = expression.left;
    }
    const visit = (...parts: (Expression | null)[]): void => {
      for (const part of parts) if (part !== null) this.#expression(part, visible, aliases);
    };
    switch (expression.kind) {
      case 'literal':
      case 'path':
      case 'parameter': // Parameters are judged on their own: the parser lists every one.
        return;
      case 'interval':
        return visit(expression.value);
      case 'field':
        return visit(expression.input);
      case 'subscript':
        return visit(expression.input, expression.index);
      case 'call':
        return this.#call(expression, visible, aliases);
      case 'extract':
        return visit(expression.from, expression.timeZone);
      case 'cast':
        return visit(expression.expression, expression.format, expression.timeZone);
      case 'case':
        return visit(
          expression.operand,
          ...expression.whens.flatMap(({ when, then }) => [when, then]),
          expression.else,
        );
      case 'unary':
        return visit(expression.operand);
      case 'between':
        return visit(expression.operand, expression.low, expression.high);
      case 'in_list':
        return visit(expression.operand, ...expression.items);
      case 'in_unnest':
        return visit(expression.operand, expression.array);
      case 'is':
        return visit(expression.operand, expression.other);
      case 'array':
        return visit(...expression.elements);
      case 'struct':
        return visit(...expression.fields.map((field) => field.expression));
      case 'in_subquery':
        visit(expression.operand);
        return this.query(expression.query, visible, aliases);
      case 'scalar_subquery':
      case 'array_subquery':
      case 'exists':
        return this.query(expression.query, visible, aliases);
      default:
        // A kind of node that this list does not know is refused, whatever it is.
        throw new QueryError('invalidQuery', 'This construct is not supported in a consumer query.', start.span);
    }
  }

  #call(call: Call, visible: Visible, aliases: Aliases): void {
    this.#functionNames.add(call.path.map((part) => part.name.toLowerCase()).join('.'));
    if (!isAllowedFunction(call.path)) {
      const message = `Function ${written(call.path)} is not allowed.`;
      this.#violation(message, pathSpan(call.path), allowedFunctionNames());
    }
    for (const { expression } of call.arguments) this.#expression(expression, visible, aliases);
    if (call.having !== null) this.#expression(call.having.expression, visible, aliases);
    this.#order(call.orderBy, visible, aliases);
    if (call.limit !== null) this.#expression(call.limit.count, visible, aliases);
    if (call.over !== null) this.#window(call.over, visible, aliases);
  }
}

/**
 * Only ASCII letters, digits and `_` can name a CTE table: a look-alike from another alphabet never does, nor a name
 * spelt with escapes, which is longer in the text than its value and its backticks.
 */
function isPlain({ name, quoted, span }: Identifier): boolean {
  return /^[A-Za-z0-9_]+$/.test(name) && span.end - span.start === name.length + (quoted ? 2 : 0);
}

/** The refusal with the allowed name that was probably meant. */
function withHint(error: QueryError, text: string): QueryError {
  const { fault, message, span, details } = error;
  if (span === null || details.allowed === undefined) return error;
  const near = nearest(text.slice(span.start, span.end), details.allowed);
  return near === undefined
    ? error
    : new QueryError(fault, message, span, { ...details, hint: `Did you mean ${near}?` });
}

function aliasOf(identifier: Identifier | null): string[] {
  return identifier === null ? [] : [identifier.name.toLowerCase()];
}

function written(path: readonly Identifier[]): string {
  return `"${path.map((part) => part.name).join('.')}"`;
}

function pathSpan(path: readonly Identifier[]): Span {
  return { start: path[0]?.span.start ?? 0, end: path.at(-1)?.span.end ?? 0 };
}
