import type { Log } from '../src/engine/log';

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
