import type { RunLimits } from '../engines/contract';
import type { Services } from './services';
import type { RequestPlan, RunRequest } from './types';

/** The limits of a request's run, which draining waits for, and its timeout in milliseconds. */
export function limitsOf(
  { endpoint }: Pick<RequestPlan, 'endpoint'>,
  request: Pick<RunRequest, 'arrived' | 'signal' | 'expectUntil'>,
  { defaults }: Pick<Services, 'defaults'>,
): { readonly limits: RunLimits; readonly timeout: number } {
  const timeout = endpoint.timeout ?? defaults.timeout;
  const deadline = request.arrived + timeout;
  request.expectUntil(deadline);
  return { limits: { deadline, signal: request.signal }, timeout };
}
