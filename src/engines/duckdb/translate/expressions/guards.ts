/**
 * The fence (docs/sandbox.md): no expression that can fail meets a row that a stored filter leaves out.
 *
 * DuckDB moves filters down and combines them with others; which of them it evaluates first, it decides while it runs. It
 * does not move a filter below a projection that computes a volatile column the filter reads. So what can fail is printed
 * as `CASE WHEN <guard> THEN <expression> END`, with a guard that is always true and volatile: a column made right below
 * the filter or join, or in a SELECT list the volatile expression itself, which keeps filters on the result above it.
 * What cannot fail goes down to the scan as ever. (docs/decisions/fence.md)
 */
import type { Fence } from '../../../contract';
import type { Expr, FunctionCall, ResolvedCase } from '../../../../googlesql/resolved';
import { failsItself } from '../../../../googlesql/totality';
import { volatile } from '../../sql';

/** What stands before an expression that can fail, where it is printed. */
export interface Guard {
  /** The condition for one expression. */
  of(expr: Expr): string;
}

/** Which expressions of one text have to be guarded. */
export class Fencing {
  readonly #instants: ReadonlyMap<string, { readonly optional: boolean }>;
  /** Lower-case names of parameters that are known not to be '' where the text being printed is evaluated. */
  readonly #present = new Set<string>();

  constructor(private readonly fence: Fence) {
    this.#instants = new Map(fence.instants.map(({ name, optional }) => [name.toLowerCase(), { optional }]));
  }

  /** Whether the operation itself can fail on some row, or for the parameters of some request. */
  fails(expr: Expr): boolean {
    return failsItself(expr) && !this.#isPresentInstant(expr);
  }

  /** Prints what is evaluated only where `condition` is false. */
  otherwise<T>(condition: Expr | undefined, print: () => T): T {
    const name = condition === undefined ? null : emptyParameter(condition);
    if (name === null || this.#present.has(name)) return print();
    this.#present.add(name);
    try {
      return print();
    } finally {
      this.#present.delete(name);
    }
  }

  /** `CAST(@start AS TIMESTAMP)` in the stored query, of a parameter that holds one. */
  #isPresentInstant(expr: Expr): boolean {
    const { consumer } = this.fence;
    if (consumer !== null && expr.span.start >= consumer.start && expr.span.start < consumer.end) return false;
    const input = convertedText(expr);
    if (input?.kind !== 'parameter') return false;
    const name = input.name.toLowerCase();
    const instant = this.#instants.get(name);
    return instant !== undefined && (!instant.optional || this.#present.has(name));
  }
}

/** The operand of a conversion to TIMESTAMP or DATE. */
function convertedText(expr: Expr): Expr | undefined {
  if (expr.kind === 'cast' && expr.format === null && expr.timeZone === null) {
    return ['TIMESTAMP', 'DATE'].includes(expr.type.kind) ? expr.input : undefined;
  }
  if (expr.kind !== 'call' || expr.args.length !== 1) return undefined;
  return ['TIMESTAMP', 'DATE'].includes(expr.function) ? expr.args[0] : undefined;
}

/** The parameter that is '' where the condition holds, in lower case: `@p = ''`, `COALESCE(@p, '') = ''`. */
function emptyParameter(condition: Expr): string | null {
  if (condition.kind !== 'call' || condition.function !== '$equal') return null;
  const [value, empty] = condition.args;
  if (empty?.kind !== 'literal' || empty.value !== '') return null;
  const inner = value?.kind === 'call' && ['COALESCE', 'IFNULL'].includes(value.function) ? value.args[0] : value;
  return inner?.kind === 'parameter' ? inner.name.toLowerCase() : null;
}

/** The condition that the last argument of an IF, or the ELSE of a CASE with one WHEN, is evaluated without. */
export function conditionBefore(expr: FunctionCall | ResolvedCase): Expr | undefined {
  if (expr.kind === 'call') return expr.function === 'IF' ? expr.args[0] : undefined;
  return expr.operand === null && expr.whens.length === 1 ? expr.whens[0]?.when : undefined;
}

/** A column, or what a lambda is given. */
const OF_A_ROW = /"[cv]\d+"|\bv\d+\b/;

/**
 * A condition that can fail, as WHEN takes it: one that reads no column DuckDB evaluates there even where no row is left for it
 * (`CASE WHEN x THEN CASE WHEN sqrt(-1) > 0 THEN ...`), unless it is volatile.
 */
export function afterOthers(condition: string): string {
  return OF_A_ROW.test(condition) ? condition : volatile(condition);
}

/** TRUE where all conditions are: each is evaluated where those before it are TRUE, and nothing nests however many there are. */
export function allInOrder(conditions: readonly string[]): string {
  if (conditions.length === 1) return conditions[0]!;
  return `CASE ${conditions.map((condition) => `WHEN (${afterOthers(condition)}) IS NOT TRUE THEN false`).join(' ')} ELSE true END`;
}

/** TRUE where one of the conditions is: each is evaluated where those before it are not TRUE. */
export function anyInOrder(conditions: readonly string[]): string {
  return `CASE ${conditions.map((condition) => `WHEN ${afterOthers(condition)} THEN true`).join(' ')} ELSE false END`;
}
