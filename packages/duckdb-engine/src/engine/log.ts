/** Where long work stands. */
export interface Standing {
  /** What is done, as a sentence begins: `Converting raw_edge_logs`. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** What is counted: `rows`, `MB`, or `%` where only the part of the whole is known. */
  readonly unit: string;
}

/** Takes where long work stands, as often as it likes to tell; null: it is done. */
export type Progress = (standing: Standing | null) => unknown;

/** The part of pino's interface that the engine writes to: an object of facts, then the sentence. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** Told now and then where long work stands; null: it is done. */
  readonly progress?: Progress;
}
