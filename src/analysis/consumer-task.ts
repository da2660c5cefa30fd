import type { Task } from '@logquay/duckdb-engine/concurrency';
import { analyseConsumer, type ConsumerAnalysis, type ConsumerText } from '@logquay/googlesql/consumer';

/** `analyseConsumer`, for a thread: a long text takes tens of milliseconds. */
export const analyseConsumerText: Task<ConsumerText, ConsumerAnalysis> = {
  file: __filename,
  name: 'analyseConsumerText',
  run: analyseConsumer,
};
