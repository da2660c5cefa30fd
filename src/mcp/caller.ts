import type { RunRequest } from '../run/types';

/** Who calls a tool, and where the answer to that request goes: a request over HTTP, or whoever started the process. */
export type Caller = Pick<RunRequest, 'id' | 'header' | 'signal' | 'timed' | 'record' | 'expectUntil' | 'setHeaders'>;
