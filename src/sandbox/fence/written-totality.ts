/**
 * Which expressions of a stored query may raise a run-time error, judged by how they are written: the tables of a stored
 * query have no known types here. What is not surely total counts as fallible.
 */
import type { Call } from '../../googlesql/syntax';
import { forEachChild, type SyntaxNode } from '../../googlesql/syntax-walk';
import { typeParametersOf } from '../../googlesql/type-names';

const TOTAL_CALLS: ReadonlySet<string> = new Set(
  `ANY_VALUE APPROX_COUNT_DISTINCT ARRAY_AGG ARRAY_LENGTH BYTE_LENGTH CHAR_LENGTH CHARACTER_LENGTH COALESCE CONCAT COUNT
   COUNTIF CUME_DIST CURRENT_DATE CURRENT_DATETIME CURRENT_TIME CURRENT_TIMESTAMP DENSE_RANK ENDS_WITH FIRST_VALUE GREATEST
   IF IFNULL LAG LAST_VALUE LEAD LEAST LENGTH LOGICAL_AND LOGICAL_OR LOWER LTRIM MAX MIN NULLIF OCTET_LENGTH PERCENT_RANK
   RANK REPLACE REVERSE ROW_NUMBER RTRIM SAFE_ADD SAFE_DIVIDE SAFE_MULTIPLY SAFE_NEGATE SAFE_SUBTRACT STARTS_WITH STRING_AGG
   STRPOS TO_JSON_STRING TRIM UPPER`.split(/\s+/),
);

/** Total where the second of two arguments, a regular expression, is written out. */
const WITH_LITERAL: ReadonlySet<string> = new Set(['REGEXP_CONTAINS', 'REGEXP_EXTRACT', 'REGEXP_EXTRACT_ALL']);

function hasLiteralPattern({ arguments: args }: Call): boolean {
  return args.length === 2 && args[1]?.expression.kind === 'literal';
}

/** Whether the operation of this node may fail, whatever is below it. */
export function ownMayFail(node: SyntaxNode): boolean {
  switch (node.kind) {
    case 'call': {
      const [first, ...rest] = node.path.map(({ name }) => name.toUpperCase());
      if (first === 'SAFE' && rest.length > 0) return false;
      if (rest.length > 0 || first === undefined) return true;
      return !TOTAL_CALLS.has(first) && !(WITH_LITERAL.has(first) && hasLiteralPattern(node));
    }
    case 'subscript':
      return node.mode !== 'safe_offset' && node.mode !== 'safe_ordinal';
    case 'cast':
      // What the parameters of its type do not allow is an error, too.
      return !node.safe || typeParametersOf(node.type) !== null;
    case 'extract':
      return node.timeZone !== null && node.timeZone.kind !== 'literal';
    case 'unary':
      return node.operator === '-' || node.operator === '~';
    case 'binary':
      return FALLIBLE_OPERATORS.has(node.operator);
    case 'interval':
      return node.value.kind !== 'literal';
    case 'scalar_subquery':
      return true;
    default:
      return false;
  }
}

const FALLIBLE_OPERATORS: ReadonlySet<string> = new Set([
  ...['like', 'not like', '|', '^', '&', '<<', '>>', '+', '-', '*', '/'],
]);

/**
 * Whether the node or anything below it may fail.
 *
 * @param instants parameters in lower case of which a cast does not
 */
export function mayFail(node: SyntaxNode, instants: ReadonlySet<string> = new Set()): boolean {
  return has(node, (inner) => ownMayFail(inner) && !isCastOf(inner, instants));
}

function isCastOf(node: SyntaxNode, parameters: ReadonlySet<string>): boolean {
  if (node.kind !== 'cast' || node.format !== null || node.timeZone !== null) return false;
  return node.expression.kind === 'parameter' && parameters.has(node.expression.name.toLowerCase());
}

/** Functions that give another value each time: a condition with one cannot be written twice. */
const VOLATILE: ReadonlySet<string> = new Set(['RAND', 'GENERATE_UUID']);

export function isVolatile(node: SyntaxNode): boolean {
  return has(node, (inner) => inner.kind === 'call' && VOLATILE.has(inner.path.at(-1)?.name.toUpperCase() ?? ''));
}

function has(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= has(child, test);
  });
  return found;
}
