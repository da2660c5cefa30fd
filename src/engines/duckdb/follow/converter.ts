import type { SegmentJob, SegmentResult } from './segment-job';

/** Writes segments, one at a time. */
export interface Converter {
  /** @throws what came in the way: the job may be given again */
  convert(job: SegmentJob): Promise<SegmentResult>;
  /** Resolves when nothing is written any more. */
  close(): Promise<void>;
}
