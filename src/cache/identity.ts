import { createHash } from 'node:crypto';

import type { BoundParameter } from '../engines/contract';
import type { Representation } from '../rendering/representation';

/** Everything that an answer depends on (docs/cache.md). Two requests that agree in all of it may share one. */
export interface Question {
  readonly endpointId: string;
  /** Of the endpoint's definition. */
  readonly revision: string;
  /** Engine and data, and the fixed clock where there is one. */
  readonly target: string;
  /** Validated, pinned ones included. */
  readonly parameters: readonly BoundParameter[];
  /** The consumer's own query, as they sent it. */
  readonly query: { readonly language: string; readonly text: string } | null;
  readonly redacted: boolean;
  /** What runs without the fence may fail where it does not with it: the two share neither answers nor runs. */
  readonly fenced: boolean;
  readonly representation: Representation;
  /** Whether TIMESTAMP is ISO 8601 text. */
  readonly isoTimestamps: boolean;
  /** Whether formulas are escaped where the representation is CSV. */
  readonly escapeFormulas: boolean;
}

/** A question by name: what entries are kept under, shared under, and leased under. */
export interface Identity {
  /** The whole question, unambiguous; an entry carries it and it is compared on read. */
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal digits. */
  readonly hash: string;
}

export function identify(question: Question): Identity {
  const { endpointId, revision, target, parameters, query, redacted, fenced, representation } = question;
  const bound = parameters
    .map(({ name, type, value }) => [name.toLowerCase(), type, value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const consumer = query === null ? null : [query.language, query.text];
  const escaped = representation === 'text/csv' && question.escapeFormulas;
  const form = `${representation}${escaped ? '; formulas=escaped' : ''}${question.isoTimestamps ? '; timestamps=iso' : ''}`;
  const text = JSON.stringify([endpointId, revision, target, bound, consumer, redacted, fenced, form]);
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}
