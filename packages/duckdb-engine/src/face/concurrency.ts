/** Deadlines, turns and threads, as the contract has them. */
export { type Clock, sleep, SYSTEM_CLOCK } from '../concurrency/clock';
export { concurrently, yieldToEventLoop } from '../concurrency/concurrently';
export {
  abortError,
  checkLimits,
  deadlineExceeded,
  raceLimits,
  remaining,
  type RunLimits,
  TimeoutError,
  unlimited,
  withinLimits,
  withTimeout,
} from '../concurrency/deadline';
export { fairShare, FairSlots, groupOf, SharedNames, type SlotBounds } from '../concurrency/fair-slots';
export { isShort, type Task, Threads } from '../concurrency/threads/threads';
export { WorkerDied, WorkerPool, WorkerTimeout } from '../concurrency/worker-pool';
