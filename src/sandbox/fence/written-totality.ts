/**
 * Which expressions of a stored query may raise a run-time error, judged by how they are written: the tables of a stored
 * query have no known types here. What is not surely total counts as fallible.
 */
import { findFunction, type SqlFunction, OPERATORS, namedFunction, PATTERNS } from '@logquay/googlesql';
import { type Expression, forEachChild, type SyntaxNode } from '@logquay/googlesql/syntax';
import { typeParametersOf } from '@logquay/googlesql/types';

function functionMayFail({ fails }: SqlFunction, args: readonly Expression[]): boolean {
  switch (fails) {
    case 'never':
      return false;
    case 'zone':
      return !args.every(({ kind }) => kind === 'literal');
    case 'group':
    case 'groups':
    case 'pattern': {
      const [, pattern, ...others] = args;
      return others.length > 0 || pattern?.kind !== 'literal' || !PATTERNS[fails](pattern.value);
    }
    default:
      return true;
  }
}

/** Whether the operation of this node may fail, whatever is below it. */
export function ownMayFail(node: SyntaxNode): boolean {
  switch (node.kind) {
    case 'call': {
      const { fn, safe } = namedFunction(node.path);
      if (fn === undefined) return true;
      // Of its errors SAFE. leaves those of size.
      if (safe && fn.mode === 'scalar') return fn.fails === 'size' || fn.grows !== 1;
      return functionMayFail(
        fn,
        node.arguments.map(({ expression }) => expression),
      );
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
    case 'binary': {
      const fn = findFunction(OPERATORS[node.operator]);
      return fn === undefined || functionMayFail(fn, [node.left, node.right]);
    }
    case 'interval':
      return node.value.kind !== 'literal';
    case 'scalar_subquery':
      return true;
    default:
      return false;
  }
}

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

/** Whether it has another value each time, so that it cannot be written twice. */
export function isVolatile(node: SyntaxNode): boolean {
  return has(node, (inner) => inner.kind === 'call' && namedFunction(inner.path).fn?.value === 'random');
}

function has(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= has(child, test);
  });
  return found;
}
