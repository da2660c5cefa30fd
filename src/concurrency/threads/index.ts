export type { Task } from './task';
export { isShort, Threads } from './threads';
