import { join } from 'node:path';

import type { Log } from '../engine/log';
import { DEFAULTS } from '../engine/options';
import type { Converter } from '../follow/converter';
import type { SegmentJob, SegmentResult } from '../follow/segment-job';
import type { PlainOptions } from './messages';
import { bytesOf } from './sizes';
import { RefusedRequests } from './refused-requests';
import { Supervisor } from './supervisor';

/** What the process may take beside DuckDB's memory limit. */
const ALLOWANCE = 150 * 1024 * 1024;
/** Milliseconds without a conversion after which it ends. */
const IDLE = 30_000;

/**
 * Writes segments in a process of its own, which is there while there is something to write: its memory is not the queries',
 * and it is ended at once with whoever started it.
 */
export class ConverterProcess implements Converter {
  readonly #process: Supervisor;

  constructor({ memory = DEFAULTS.memory, threads = DEFAULTS.threads }: PlainOptions, log: Log) {
    this.#process = new Supervisor({
      file: join(__dirname, 'child.js'),
      opening: () => ({ role: 'converter', resources: { memory, threads } }),
      maxResident: bytesOf(memory) + ALLOWANCE,
      idle: IDLE,
      refused: new RefusedRequests(),
      log,
    });
  }

  async convert(job: SegmentJob): Promise<SegmentResult> {
    const limits = { deadline: Infinity, signal: new AbortController().signal };
    const { answer } = await this.#process.call({ request: { kind: 'convert', job }, limits, allowance: null });
    return answer as SegmentResult;
  }

  close(): Promise<void> {
    this.#process.kill();
    return Promise.resolve();
  }
}
