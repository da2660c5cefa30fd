/** The error of a call that no signature takes, in BigQuery's words. */
import type { QueryError } from '../errors';
import type { SqlFunction } from '../functions/catalogue';
import type { Expr } from '../resolved';
import { spread } from '../functions/match';
import { signatureOf, type Parameter, type Pattern, type Signature } from '../functions/signature';
import type { Span } from '../tree';
import { typeText } from '../type-names';
import { shortType } from './access';
import { invalid, type Session } from './session';

const MODES = { scalar: 'function', aggregate: 'aggregate function', analytic: 'analytic function' } as const;

/** The type of an argument as the errors below name it. */
export function typeOfOperand(session: Session, expr: Expr): string {
  return session.isUntyped(expr) ? 'NULL' : shortType(expr.type);
}

/** @param types of the arguments, as `typeOfOperand` */
export function noSignatureOfFunction(fn: SqlFunction, types: readonly string[], span: Span): QueryError {
  const given = types.length === 0 ? ' with no arguments' : ` for argument types: ${types.join(', ')}`;
  const supported = supportedSignatures(fn, (parameters) => `${fn.name}(${parameters.map(parameterText).join(', ')})`);
  const [only, ...others] = fn.signatures;
  if (only !== undefined && others.length === 0 && spread(signatureOf(only), types.length) === null)
    return invalid(`Number of arguments does not match for ${MODES[fn.mode]} ${fn.name}. ${supported}.`, span);
  return invalid(`No matching signature for ${MODES[fn.mode]} ${fn.name}${given}. ${supported}.`, span);
}

/** @param operator as it is written */
export function noSignatureOfOperator(
  fn: SqlFunction,
  operator: string,
  types: readonly string[],
  span: Span,
): QueryError {
  const [first, ...rest] = types;
  if (operator === 'IN')
    return invalid(`No matching signature for operator IN for argument types ${first} and {${rest.join(', ')}}.`, span);
  const unmatched = `No matching signature for operator ${operator} for argument types: ${types.join(', ')}.`;
  if (operator === 'IN UNNEST') return invalid(unmatched, span);
  const supported = supportedSignatures(fn, (parameters) => {
    const [left, right, third] = parameters.map(parameterText);
    if (operator === 'BETWEEN') return `(${left}) BETWEEN (${right}) AND (${third})`;
    if (parameters[1]?.cardinality === 'repeated') return `${left} ${operator} (${right})`;
    return right === undefined ? `${operator} ${left}` : `${left} ${operator} ${right}`;
  });
  return invalid(`${unmatched} ${supported}.`, span);
}

function supportedSignatures(
  { signatures }: SqlFunction,
  text: (parameters: Signature['parameters']) => string,
): string {
  const texts = [...new Set(signatures.map((signature) => text(signatureOf(signature).parameters)))];
  return `Supported signature${texts.length === 1 ? '' : 's'}: ${texts.join('; ')}`;
}

function parameterText({ pattern, cardinality, name, namedOnly }: Parameter): string {
  const type = namedOnly ? `${name} => ${patternText(pattern)}` : patternText(pattern);
  if (cardinality === 'required') return type;
  return cardinality === 'optional' ? `[${type}]` : `[${type}, ...]`;
}

function patternText(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'fixed':
      return typeText(pattern.type);
    case 'template':
    case 'any':
      return 'ANY';
    case 'array_template':
    case 'top_count':
    case 'top_sum':
      return 'ARRAY';
    case 'part':
      return 'DATE_TIME_PART';
    case 'mode':
      return 'NORMALIZE_MODE';
    case 'rounding':
      return 'ROUNDING_MODE';
  }
}
