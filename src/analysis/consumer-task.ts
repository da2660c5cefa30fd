import type { Task } from '../concurrency/threads/threads';
import { analyseConsumer, type ConsumerAnalysis, type ConsumerText } from './consumer-query';

/** `analyseConsumer`, for a thread: a long text takes tens of milliseconds. */
export const analyseConsumerText: Task<ConsumerText, ConsumerAnalysis> = {
  file: __filename,
  name: 'analyseConsumerText',
  run: analyseConsumer,
};
