import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';

import { StoredAnalyses } from '../analysis/stored-analyses';
import type { Config } from '../config';
import { exportSlots } from '../limits/admission';
import { Encoder } from '@logquay/duckdb-engine/parquet';
import { PlanCache } from './plan-cache';
import type { Services } from './services';

/** What a service and a run in a process of its own have opened each in its way. */
export type Opened = Pick<
  Services,
  | 'admission'
  | 'budgets'
  | 'cacheState'
  | 'catalogue'
  | 'consumption'
  | 'engine'
  | 'gate'
  | 'ingest'
  | 'keys'
  | 'pageTokens'
  | 'rates'
  | 'results'
  | 'tails'
  | 'threads'
  | 'usage'
>;

/** The services of runs: what is opened, and what follows from it and the configuration. */
export function servicesOf(config: Config, opened: Opened): Services {
  const exportFile: Services['exportFile'] = () => {
    const path = join(exportFolder(config), `${randomUUID()}.parquet`);
    return { path, maxBytes: config.maxExportFile };
  };
  return {
    ...opened,
    analyses: new StoredAnalyses(opened.engine, opened.gate),
    plans: new PlanCache(),
    exportSlots: exportSlots(opened.engine),
    exportFile,
    openEncoder: (columns, take) => new Encoder({ columns, file: exportFile() }, take),
    now: nowOf(config.clock),
    pricePerTiB: config.pricePerTiB,
    defaults: {
      timeout: config.queryTimeout,
      exportTimeout: config.exportTimeout,
      maxBytesBilled: config.maxBytesBilled,
    },
    longestResponse: config.maxResponseBytes,
    escapeFormulas: config.csvEscapeFormulas,
  };
}

/** A folder of their own: whatever a start finds there was left by a process that was killed. */
export function exportFolder({ cacheDir }: Config): string {
  return resolve(cacheDir, 'exports');
}

/** The clock of LQL's relative times: the fixed one, or the machine's. */
function nowOf(clock: Config['clock']): () => bigint {
  if (clock !== null) return () => clock.epochMicros;
  return () => BigInt(Date.now()) * 1000n;
}
