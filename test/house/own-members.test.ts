import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

import { nodesOf, sourceOf } from './syntax-tree';

/** `in` outside of lines of comments: code without it is not parsed. */
const IN = /^(?!\s*(?:\/\/|\/\*|\*[\s/])).*\bin\b/m;

/** Where a name that is not written there is looked up by `in`: it may be a member that every object has, as `constructor` is. */
function lookups(file: string, text = readFileSync(file, 'utf8')): string[] {
  if (!IN.test(text)) return [];
  const source = sourceOf(file, text);
  return [...nodesOf(source)].flatMap((node) => {
    if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.InKeyword) return [];
    if (ts.isStringLiteral(node.left) || ts.isPrivateIdentifier(node.left)) return [];
    return [`${file}:${String(source.getLineAndCharacterOfPosition(node.getStart()).line + 1)}`];
  });
}

test('a Map or Object.hasOwn answers whether there is a member of some name', () => {
  const files = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap((file) => lookups(file))).toEqual([]);
});

test('a name that comes from elsewhere is found', () => {
  expect(lookups('a.ts', "const a = 'x' in o;\nconst b = #p in o;\nconst c = name in o;")).toEqual(['a.ts:3']);
});
