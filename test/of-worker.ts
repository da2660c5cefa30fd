/** What the test files of one worker of Jest have together: made in `environment.js`, which outlives each of them. */
import type { OF_WORKER } from './environment.js';

export const ofWorker = (globalThis as unknown as { readonly ofWorker: typeof OF_WORKER }).ofWorker;
