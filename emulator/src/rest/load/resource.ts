import { resourceOf } from '../../jobs/resource';
import { type LoadJob } from './load-job';

/** The `Job` resource of a load. */
export function loadResource(job: LoadJob): Record<string, unknown> {
  const statistics = {
    load: {
      inputFiles: '1',
      inputFileBytes: String(job.inputBytes),
      outputRows: String(job.outputRows),
      outputBytes: String(job.inputBytes),
      badRecords: String(job.badRecords),
    },
  };
  return resourceOf(job, { jobType: 'LOAD', ...job.spec.configuration }, job.error === null ? statistics : {});
}
