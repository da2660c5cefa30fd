import type { Task } from '../concurrency/threads/threads';
import { complete } from '../completion/complete';
import type { Completions, WrittenText } from '../completion/completion';

/** `complete`, for a thread: the text is read several times. */
export const completeText: Task<WrittenText, Completions> = {
  file: __filename,
  name: 'completeText',
  run: complete,
};
