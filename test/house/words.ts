/**
 * Where the code base uses a word that it once had for something that the field has a name for. docs/architecture.md has the
 * glossary of what is our own.
 */
import { readFileSync } from 'node:fs';

import ts from 'typescript';

import { nodesOf, sourceOf } from './syntax-tree';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly kind: 'identifier' | 'file name' | 'heading' | 'message' | 'text';
  readonly found: string;
}

/** Words that no identifier, file name, heading or message has, each with what to write. */
export const WORDS: Readonly<Record<string, string>> = {
  told: 'telemetry, recorded attributes, reported',
  asked: 'requested, request plan',
  judged: 'validated, planned',
  judge: 'validate, check (but for the local BigQuery as a reference)',
  rooms: 'services',
  made: 'run result, created, built',
  finished: 'encoded response, completed',
  flights: 'single flight',
  aloft: 'in flight',
  weights: 'size estimates',
  kept: 'cached, stored, retained',
  anew: 'again, refreshed',
  stands: 'represents, is, is verified',
  careful: 'strict',
  lean: 'partial',
};

/** Words of identifiers and file names only: in sentences they have their common sense. */
export const NAMES: Readonly<Record<string, string>> = {
  turn: 'slot, event loop tick',
  turns: 'slots',
  light: 'small size estimate',
  giving: 'cancellation, deadline',
};

/** Names that are Node's, or fields of the log tables. */
const NAMES_OF_OTHERS: ReadonlySet<string> = new Set([
  'finished',
  'writableFinished',
  'clientFinished',
  'serverFinished',
]);

const isWord = (part: string): boolean => Object.hasOwn(WORDS, part) || Object.hasOwn(NAMES, part);

/** Matches where a part of a name, or of a text, may be one of the words. Code without such a place is not parsed. */
const PLACE = ((): RegExp => {
  const words = [...Object.keys(WORDS), ...Object.keys(NAMES)];
  const capitalised = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const capitals = words.map((word) => word.toUpperCase());
  const [small, first, all] = [words, capitalised, capitals].map((forms) => `(?:${forms.join('|')})`);
  return new RegExp(`(?<![A-Za-z])${small}(?![a-z])|${first}(?![a-z])|${all}`);
})();

/** What no line of code, comment or page has. */
export const PHRASES: readonly RegExp[] = [
  /\btakes? (?:a|its|their|his) turns?\b/i,
  /\bin turn\b/i,
  /\b(?:its|their|whose) turn\b/i,
  /\bgiv(?:ing|en|es|e) (?:it |them |this )?up\b/i,
  /\bkept anew\b|\bmade anew\b/i,
  /\bstands? (?:for|beside)\b/i,
  /\bwho has no key\b/i,
  /\bwho asks\b/i,
  /\btold of\b|\bis told\b|\bare told\b|\btells? of\b/i,
  /\bnot asked so\b|\bone too many\b/i,
  /\bmay be \d+ seconds old\b/i,
  /\bForm of the answer\b|\bAs received\b|\bSend again later\b/,
  /\bmade up\b/i,
  /(?<!\bthere )\b(?:is|are) none\b/i,
  /\bdoes not take [A-Z]/,
  /\baloft\b/i,
];

/** `parsePartOfSQLText` -> parse, part, of, sql, text. */
function partsOf(name: string): string[] {
  return name
    .split(/[^A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
}

/** @param file its path from the root, with `/` */
export function findingsIn(file: string, text = readFileSync(file, 'utf8')): Finding[] {
  const findings: Finding[] = [];
  const lineAt = lineCounter(text);
  const add = (kind: Finding['kind'], at: number, found: string): void => {
    findings.push({ file, line: lineAt(at), kind, found });
  };
  for (const part of partsOf(file)) if (isWord(part)) add('file name', 0, part);
  for (const phrase of PHRASES) {
    for (const { 0: found, index } of text.matchAll(new RegExp(phrase, `${phrase.flags}g`))) add('text', index, found);
  }
  const wordsOf = (kind: Finding['kind'], at: number, sentence: string): void => {
    for (const word of partsOf(sentence)) if (Object.hasOwn(WORDS, word)) add(kind, at, word);
  };
  if (file.endsWith('.md')) {
    for (const { 1: heading = '', index } of text.matchAll(/^#+ (.*)$/gm)) wordsOf('heading', index, heading);
    return findings;
  }
  if (!PLACE.test(text)) return findings;
  for (const { kind, at, value } of tokensOf(text, file)) {
    if (kind === 'name') {
      if (NAMES_OF_OTHERS.has(value)) continue;
      for (const part of partsOf(value)) if (isWord(part)) add('identifier', at, value);
    } else if (file.includes('src/')) {
      wordsOf('message', at, value);
    }
  }
  return findings;
}

interface Token {
  readonly kind: 'name' | 'text';
  readonly at: number;
  readonly value: string;
}

function* tokensOf(text: string, file: string): Generator<Token> {
  const source = sourceOf(file, text);
  for (const node of nodesOf(source)) {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      yield { kind: 'name', at: node.getStart(source), value: node.text };
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (!isModuleName(node)) yield { kind: 'text', at: node.getStart(source), value: node.text };
    }
  }
}

/** What is imported has its name from its file. */
const isModuleName = (node: ts.Node): boolean =>
  ts.isImportDeclaration(node.parent) ||
  ts.isExportDeclaration(node.parent) ||
  (ts.isCallExpression(node.parent) && node.parent.expression.kind === ts.SyntaxKind.ImportKeyword);

function lineCounter(text: string): (at: number) => number {
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (at) => starts.filter((start) => start < at).length + 1;
}
