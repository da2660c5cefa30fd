/** What the function table knows of one function. */

export type FunctionMode = 'scalar' | 'aggregate' | 'analytic';

export type FunctionCategory =
  | 'aggregate'
  | 'analytic'
  | 'approximate'
  | 'array'
  | 'conditional'
  | 'conversion'
  | 'date'
  | 'datetime'
  | 'debugging'
  | 'hash'
  | 'hll'
  | 'interval'
  | 'json'
  | 'math'
  | 'net'
  | 'operator'
  | 'range'
  | 'security'
  | 'string'
  | 'time'
  | 'timestamp'
  | 'utility';

export interface FunctionEntry {
  readonly mode: FunctionMode;
  readonly category: FunctionCategory;
  /** In the notation of `signature.ts`; empty: typed by a rule of its own. */
  readonly signatures: readonly string[];
  /** A second name. */
  readonly alias?: string;
  /** Two calls in one query may differ. */
  readonly volatile?: boolean;
  /** May stand before OVER; says whether the window's ORDER BY is needed. Absent: no OVER. */
  readonly over?: 'optional' | 'required' | 'unsupported';
  readonly framing?: boolean;
  /** Takes ORDER BY, LIMIT, IGNORE NULLS inside its parentheses. */
  readonly orderBy?: boolean;
  readonly limit?: boolean;
  readonly nulls?: boolean;
  /** Its arguments are never converted. */
  readonly exact?: boolean;
  /** Positions of arguments that must be literals or parameters. */
  readonly constant?: readonly number[];
}
