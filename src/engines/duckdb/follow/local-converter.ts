import { Watch } from '../data/conversion-progress';
import type { Progress } from '../../../log/status-line';
import type { Converter } from './converter';
import type { SegmentJob, SegmentResult } from './segment-job';
import { type Resources, writeSegment } from './segment-writer';

/** Writes segments in this process. */
export class LocalConverter implements Converter {
  constructor(
    private readonly resources: Resources,
    private readonly progress: Progress = () => undefined,
  ) {}

  #current: Promise<unknown> = Promise.resolve();

  convert(job: SegmentJob): Promise<SegmentResult> {
    const result = writeSegment(job, this.resources, new Watch(job.table, this.progress));
    this.#current = result.catch(() => undefined);
    return result;
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#current;
  }
}
