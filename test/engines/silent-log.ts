import type { Log } from '../../src/engines/duckdb/engine/log';

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
