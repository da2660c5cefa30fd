/**
 * What the values of parameters rule out is left out of a query: `IF(@start = '', TRUE, timestamp > CAST(@start AS TIMESTAMP))`
 * is a comparison with a number where the value is an instant, and nothing where it is ''. DuckDB plans a statement anew for
 * each run's values, and takes longer over such expressions than over the rows of an hour.
 */
import type { BoundParameter } from '../contract/contract';
import {
  type Cte,
  type Expr,
  type FunctionCall,
  type Relation,
  type ResolvedCase,
  type ResolvedQuery,
  mapOperands,
  mapRelation,
} from '@logquay/googlesql';
import { timestampMicros } from '@logquay/googlesql/types';

/** Of a STRING: it is '', or it is a TIMESTAMP as a cast reads it. A translation serves all values of the same forms. */
export type ParameterForm = 'empty' | 'instant';

/** What timestamps are mostly written as; others are left to DuckDB. */
const INSTANT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})$/;

/** null: nothing is known of the value */
export function formOf(parameter: BoundParameter): ParameterForm | null {
  if (parameter.type !== 'STRING') return null;
  if (parameter.value === '') return 'empty';
  return instantOf(parameter.value) === null ? null : 'instant';
}

/** Microseconds since the epoch. */
export function instantOf(value: string): bigint | null {
  return INSTANT.test(value) ? timestampMicros(value) : null;
}

const AS_INSTANT = ' as an instant';

/** The STRING parameter that a TIMESTAMP parameter of a translation is the value of; null: it is one of the query's own. */
export function textParameterOf(name: string): string | null {
  return name.endsWith(AS_INSTANT) ? name.slice(0, -AS_INSTANT.length) : null;
}

/** @param forms by lower-case names of parameters */
export function withKnownParameters(query: ResolvedQuery, forms: ReadonlyMap<string, ParameterForm>): ResolvedQuery {
  return forms.size === 0 ? query : new Folding(forms).query(query);
}

class Folding {
  readonly #ctes = new Map<Cte, Cte>();

  constructor(private readonly forms: ReadonlyMap<string, ParameterForm>) {}

  readonly query = (query: ResolvedQuery): ResolvedQuery => ({
    ...query,
    ctes: query.ctes.map(this.#cte),
    relation: this.#relation(query.relation),
  });

  readonly #cte = (cte: Cte): Cte => {
    let known = this.#ctes.get(cte);
    if (known === undefined) this.#ctes.set(cte, (known = { ...cte, query: this.query(cte.query) }));
    return known;
  };

  readonly #relation = (relation: Relation): Relation =>
    relation.kind === 'cte'
      ? { ...relation, cte: this.#cte(relation.cte) }
      : mapRelation(relation, { expr: this.#expr, relation: this.#relation, query: this.query });

  readonly #expr = (written: Expr): Expr => {
    const expr = mapOperands(written, { expr: this.#expr, query: this.query });
    switch (expr.kind) {
      case 'cast':
        return expr.format === null && expr.timeZone === null && expr.type.kind === 'TIMESTAMP'
          ? (this.#instant(expr.input, expr) ?? expr)
          : expr;
      case 'case':
        return foldedCase(expr);
      case 'call':
        return this.#call(expr);
      default:
        return expr;
    }
  };

  #call(call: FunctionCall): Expr {
    const [first, second] = call.args;
    switch (call.function) {
      case 'TIMESTAMP':
        return (call.args.length === 1 && this.#instant(first, call)) || call;
      case 'COALESCE':
      case 'IFNULL':
        return first !== undefined && this.#formOf(first) !== null ? first : call;
      case '$equal':
        if (second?.kind !== 'literal' || second.value !== '' || first === undefined) return call;
        return this.#formOf(first) === null ? call : literal(this.#formOf(first) === 'empty', call);
      case 'IF':
        return truthOf(first) === null ? call : branch(call.args[truthOf(first) === true ? 1 : 2], call);
      case '$and':
        return without(true, call);
      case '$or':
        return without(false, call);
      default:
        return call;
    }
  }

  #formOf(expr: Expr): ParameterForm | null {
    return expr.kind === 'parameter' ? (this.forms.get(expr.name.toLowerCase()) ?? null) : null;
  }

  /** The parameter as a TIMESTAMP; null: it is not known to be one. */
  #instant(input: Expr | undefined, { type, span }: Expr): Expr | null {
    if (input?.kind !== 'parameter' || this.#formOf(input) !== 'instant') return null;
    return { kind: 'parameter', name: `${input.name.toLowerCase()}${AS_INSTANT}`, type, span };
  }
}

/** null: it is no literal, or NULL */
function truthOf(expr: Expr | null | undefined): boolean | null {
  return expr?.kind === 'literal' && expr.type.kind === 'BOOL' && expr.value !== null ? expr.value === 'true' : null;
}

function literal(value: boolean, { span }: Expr): Expr {
  return { kind: 'literal', type: { kind: 'BOOL' }, value: String(value), span };
}

/** What an expression gives in place of the expression. */
function branch(value: Expr | null | undefined, whole: Expr): Expr {
  const scalar = !['ARRAY', 'STRUCT'].includes(whole.type.kind);
  return value?.type.kind === whole.type.kind && scalar ? value : whole;
}

function foldedCase(expr: ResolvedCase): Expr {
  if (expr.operand !== null) return expr;
  const whens = expr.whens.filter(({ when }) => truthOf(when) !== false);
  const [first] = whens;
  if (first === undefined) return branch(expr.else, expr);
  return truthOf(first.when) === true ? branch(first.then, expr) : { ...expr, whens };
}

/** AND without what is true, OR without what is false. */
function without(neutral: boolean, call: FunctionCall): Expr {
  const args = call.args.filter((arg) => truthOf(arg) !== neutral);
  if (args.length === call.args.length) return call;
  return args.length > 1 ? { ...call, args } : (args[0] ?? literal(neutral, call));
}

/** Strings and quoted names, which are passed over, and the parameters between them. */
const PARAMETERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([0-9]+)/g;

/**
 * Numbers the parameters that `sql` still holds from 1 without gaps: what was printed to be looked at and then left out
 * may have had parameters too, and DuckDB takes values for those of the text alone.
 *
 * @param names the name of each `$n` in order
 */
export function renumber(sql: string, names: readonly string[]): { sql: string; parameters: readonly string[] } {
  const numbers = new Map<string, number>();
  const renumbered =
    names.length === 0
      ? sql
      : sql.replace(PARAMETERS, (text, old: string | undefined) => {
          if (old === undefined) return text;
          const number = numbers.get(old) ?? numbers.size + 1;
          numbers.set(old, number);
          return `$${number}`;
        });
  return { sql: renumbered, parameters: [...numbers.keys()].map((old) => names[Number(old) - 1]!) };
}
