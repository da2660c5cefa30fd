import type { Converter } from '../follow/converter';
import type { SegmentJob, SegmentResult } from '../follow/segment-job';

/** Bytes of content that are read and written in about the time in which a process starts. */
const SMALL = 4 * 1024 * 1024;

/**
 * Writes segments of rows that are in memory in this process, and others in one of their own: the rows of a few minutes take 10 to 40 MiB here,
 * where a process takes 40 and leaves as many behind, pages of programs that the kernel then takes for active.
 */
export class SmallJobsConverter implements Converter {
  #closed = false;

  constructor(
    private readonly here: Converter,
    private readonly apart: Converter,
  ) {}

  async convert(job: SegmentJob): Promise<SegmentResult> {
    if (!isSmall(job)) return this.apart.convert(job);
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

/** Little that this process has read before (tails, segments of its own): nothing of it will end the process. */
function isSmall({ ranges }: SegmentJob): boolean {
  let bytes = 0;
  for (const { from, to, format } of ranges) {
    if (to === null || format === 'parquet') return false;
    bytes += to.position.offset - from.position.offset;
  }
  return bytes <= SMALL;
}
