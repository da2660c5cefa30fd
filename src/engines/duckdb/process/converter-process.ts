import { join } from 'node:path';

import type { Log } from '../engine/log';
import type { Converter } from '../follow/converter';
import type { SegmentJob, SegmentResult } from '../follow/segment-job';
import type { Resources } from '../follow/segment-writer';
import { RefusedRequests } from './refused-requests';
import { Supervisor } from './supervisor';
import { mappedBytes } from './usage';

/** Milliseconds without a conversion after which it ends. */
const IDLE = 3_000;

/**
 * Writes segments in a process of its own, which is there while there is something to write. It has a share of the memory, and
 * is ended where queries need what is left of it: what it was to write is given again later.
 */
export class ConverterProcess implements Converter {
  readonly #process: Supervisor;

  /** @param most bytes in memory that this process, which starts it, and the new one may have together */
  constructor(resources: Resources, most: number, log: Log) {
    this.#process = new Supervisor({
      name: 'The process that stores rows',
      file: join(__dirname, 'child.js'),
      opening: () => ({ role: 'converter', resources }),
      // Both run the same program, whose pages are in memory once.
      maxResident: () => most - process.memoryUsage.rss() + (mappedBytes(process.pid) ?? 0),
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
