/** What an engine promises, and how it fails; nothing here needs DuckDB. */
export {
  around,
  type ArrivedRange,
  type ArrivedResult,
  type BoundParameter,
  type DryRun,
  type Engine,
  type EngineQuery,
  type EngineResult,
  type FolderStatus,
  FORMULA_STARTS,
  type LineForm,
  type Lines,
  type LineSink,
  type ResultHead,
  type RunLimits,
  SPARE_ROOM,
  type TableSchemas,
  type TableStatus,
  type TimePartitions,
} from '../contract/contract';
export {
  executionFault,
  type ExecutionFault,
  isExecutionFault,
  OUT_OF_MEMORY,
  SEVERAL_CAN_FAIL,
} from '../contract/execution-faults';
export { ForwardingEngine } from '../contract/forwarding-engine';
export { type ErrorDetails, type Reason, ServiceError } from '../contract/service-error';
export { isWildcard, mayMean, nameIn } from '../contract/table-names';
export type { Log, Progress, Standing } from '../engine/log';
export type { DuckDbOptions } from '../engine/options';
