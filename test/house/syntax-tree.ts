/** What TypeScript's compiler makes of a source file. */
import ts from 'typescript';

export function sourceOf(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/** Every node of it, those of its doc comments too. */
export function* nodesOf(source: ts.SourceFile): Generator<ts.Node> {
  const nodes: ts.Node[] = [source];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    yield node;
    ts.forEachChild(node, (child) => {
      nodes.push(child);
    });
    const { jsDoc = [] } = node as { jsDoc?: readonly ts.Node[] };
    nodes.push(...jsDoc);
  }
}
