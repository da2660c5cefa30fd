import { forEachChild, type SyntaxNode } from '../src/tree-walk';
import { parseQuery } from '../src/parser';
import type { Expression } from '../src/tree';

/** The first item of `SELECT <sql>`. */
export function expression(sql: string): Expression {
  const { body } = parseQuery(`SELECT ${sql}`);
  const item = body.kind === 'select' ? body.items[0] : undefined;
  if (item?.kind !== 'select_expression') throw new Error(`no expression: ${sql}`);
  return item.expression;
}

/** An expression with every operator in brackets, so that precedence shows: `(a + (b * c))`. */
export function brackets(node: Expression): string {
  const parts: string[] = [];
  forEachChild(node, (child) => parts.push(isExpression(child) ? brackets(child) : 'query'));
  const [first = '', second = ''] = parts;
  switch (node.kind) {
    case 'path':
      return node.parts.map(({ name }) => name).join('.');
    case 'literal':
      return node.type === 'STRING' ? JSON.stringify(node.value) : node.value;
    case 'parameter':
      return `@${node.name}`;
    case 'unary':
      return `(${node.operator} ${first})`;
    case 'binary':
      return `(${first} ${node.operator} ${second})`;
    case 'is':
      return `(${first} is ${node.negated ? 'not ' : ''}${node.test}${node.other === null ? '' : ` from ${second}`})`;
    case 'field':
      return `${first}->${node.name.name}`;
    case 'subscript':
      return `${first}[${node.mode === 'plain' ? second : `${node.mode} ${second}`}]`;
    case 'call':
      return `${node.path.map(({ name }) => name).join('.')}(${parts.join(', ')})`;
    default:
      return `${node.kind}(${parts.join(', ')})`;
  }
}

const NOT_EXPRESSIONS = new Set<SyntaxNode['kind']>(['query', 'select', 'set_operation']);

function isExpression(node: SyntaxNode): node is Expression {
  return !NOT_EXPRESSIONS.has(node.kind);
}
