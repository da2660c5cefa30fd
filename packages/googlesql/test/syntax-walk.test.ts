/** The walk over syntax trees sees every part of every node: held to the declarations of `syntax.ts`. */
import { forEachChild, type SyntaxNode } from '../src/tree-walk';
import { samplesOf, type Shapes } from './node-samples';

const SHAPES: Shapes = {
  file: 'packages/googlesql/src/tree.ts',
  parts: {
    Expression: (id) => ({ kind: 'literal', id }),
    FromItem: (id) => ({ kind: 'table_path', id }),
    QueryBody: (id) => ({ kind: 'select', id }),
    Query: (id) => ({ kind: 'query', id }),
    PipeOperator: (id) => ({ kind: 'pipe_distinct', id }),
  },
  leaves: ['Identifier', 'Span'],
};

it('knows the parts of every node', () => {
  for (const union of ['Expression', 'FromItem', 'QueryBody', 'PipeOperator']) {
    for (const { kind, node, parts } of samplesOf(union, SHAPES)) {
      const seen: SyntaxNode[] = [];
      forEachChild(node as SyntaxNode, (child) => seen.push(child));
      expect([kind, new Set(seen)]).toEqual([kind, new Set(Object.values(parts).flat())]);
    }
  }
});
