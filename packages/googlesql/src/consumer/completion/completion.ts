/** What may be written at a place of a query text. */
import type { TypedParameter } from '../../bound-parameter';
import type { Span } from '../../tree';
import type { ConsumerTable } from '../analysis';

export type CompletionKind =
  | 'table'
  | 'alias'
  | 'column'
  | 'field'
  | 'function'
  | 'keyword'
  | 'parameter'
  | 'operator'
  | 'value';

export interface Completion {
  readonly label: string;
  readonly kind: CompletionKind;
  /** Replaces the span of the completions. */
  readonly insert: string;
  /** Of a column, field or parameter. */
  readonly type?: string;
  /** Signatures of a function; what an operator means. */
  readonly detail?: string;
  /** What the completion needs elsewhere in the text: the UNNESTs that reach a nested field. */
  readonly also?: { readonly at: number; readonly insert: string };
}

export interface Completions {
  /** What is replaced, in UTF-16 offsets: the word at the cursor. */
  readonly span: Span;
  readonly items: readonly Completion[];
}

/** A text that is being written. */
export interface WrittenText {
  readonly language: 'sql' | 'lql';
  readonly text: string;
  /** Of the cursor, a UTF-16 offset. */
  readonly position: number;
  /** The CTE tables with their columns. */
  readonly tables: readonly ConsumerTable[];
  readonly parameters: readonly TypedParameter[];
}

/** Most completions that are offered at one place. */
const MOST = 300;

/** Those that hold the written word, or its parts between dots in their order, the ones that begin with it first; each label once. */
export function matching(word: string, all: Iterable<Completion>): Completion[] {
  const parts = word.toLowerCase().split('.');
  const seen = new Set<string>();
  const [first, others]: [Completion[], Completion[]] = [[], []];
  for (const completion of all) {
    const label = completion.label.toLowerCase();
    const key = `${completion.kind} ${label}`;
    if (!holdsInOrder(label, parts) || seen.has(key)) continue;
    seen.add(key);
    (label.startsWith(word.toLowerCase()) ? first : others).push(completion);
    if (first.length === MOST) break;
  }
  return [...first, ...others].slice(0, MOST);
}

function holdsInOrder(label: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const at = label.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
