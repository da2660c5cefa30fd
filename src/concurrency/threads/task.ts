/**
 * A piece of work that a thread can do. What goes in and what comes out is plain data (docs/decisions/long-texts.md):
 * a thread gets and gives copies. It may throw QueryError.
 */
export interface Task<Input, Output> {
  /** The module that exports it: its `__filename`. A thread loads that. */
  readonly file: string;
  /** The name it is exported under. */
  readonly name: string;
  readonly run: (input: Input) => Output;
}
