/** What the page asks its analyser, and the answers: plain data between it and the worker. */
import type { ConsumerAnalysis, ConsumerText, Completions, WrittenText } from '@logquay/googlesql/consumer';
import type { RowSource } from './row-source';

export interface Questions {
  readonly analyse: { readonly given: ConsumerText; readonly answer: ConsumerAnalysis };
  readonly complete: { readonly given: WrittenText; readonly answer: Completions };
  readonly rows: { readonly given: ConsumerText; readonly answer: RowSource | null };
}

export type Kind = keyof Questions;

export interface Question<K extends Kind = Kind> {
  readonly id: number;
  readonly kind: K;
  readonly given: Questions[K]['given'];
}

export interface Answer {
  readonly id: number;
  /** null: the analyser failed, which is a fault of its own. */
  readonly answer: Questions[Kind]['answer'] | null;
}
