/** What the test files of one worker of Jest have together: made in `environment.js`, which outlives each of them. */
import type Environment from './environment.js';

type OfWorker = (typeof Environment)['OF_WORKER'];

export const ofWorker = (globalThis as unknown as { readonly ofWorker: OfWorker }).ofWorker;
