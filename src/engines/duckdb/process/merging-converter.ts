import type { Converter } from '../follow/converter';
import type { SegmentJob, SegmentResult } from '../follow/segment-job';

/**
 * Merges segments in this process, and has rows that are to be read written in one of their own: small segments take 10 MiB here,
 * where a process takes 40 and leaves as many behind, pages of programs that the kernel then takes for active.
 */
export class MergingConverter implements Converter {
  #closed = false;

  constructor(
    private readonly here: Converter,
    private readonly apart: Converter,
  ) {}

  async convert(job: SegmentJob): Promise<SegmentResult> {
    if (job.ranges.length > 0) return this.apart.convert(job);
    try {
      return await this.here.convert(job);
    } catch (error) {
      if (this.#closed) throw error;
      // A process of its own has as much memory as this one, all of it free.
      return this.apart.convert(job);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.here.close(), this.apart.close()]);
  }
}
