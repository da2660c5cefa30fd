import type { Task } from '@logquay/duckdb-engine/concurrency';
import { complete, type Completions, type WrittenText } from '@logquay/googlesql/consumer';

/** `complete`, for a thread: the text is read several times. */
export const completeText: Task<WrittenText, Completions> = {
  file: __filename,
  name: 'completeText',
  run: complete,
};
