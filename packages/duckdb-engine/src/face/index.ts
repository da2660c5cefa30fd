/** GoogleSQL on DuckDB, in a process of its own. */
export { openRemoteEngine } from '../process/open';
export { type StartedProcess, startProcess } from '../process/start-process';
export type { Cause } from '../process/watchdog';
