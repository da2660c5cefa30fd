import type { Progress } from '../../../log/status-line';

/** The part of pino's interface that the engine writes to: an object of facts, then the sentence. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** Told now and then where long work stands; null: it is done. */
  readonly progress?: Progress;
}
