export type { Task } from './task';
export { Threads } from './threads';
