import type { ErrorDetails, Reason } from '../../errors';
import type { NamedType } from '../../googlesql/types';
import type { Row } from './readable-rows';

/** What a request was answered with. */
export type Outcome =
  | {
      readonly kind: 'result';
      readonly columns: readonly NamedType[];
      /** Readable: see readable-rows.ts. */
      readonly rows: readonly Row[];
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'error';
      readonly reason: Reason;
      readonly message: string;
      readonly details: ErrorDetails;
    };

/** The outcome of one test. */
export interface TestResult {
  readonly name: string;
  /** Lines for people; empty: the test passed. */
  readonly differences: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
}

/** The outcome of one file of tests. */
export interface FileResult {
  readonly path: string;
  /** Why none of its tests ran, line by line; empty: they did. */
  readonly faults: readonly string[];
  readonly tests: readonly TestResult[];
  /** Tests whose expectations `--update` has rewritten. */
  readonly updated: number;
}
