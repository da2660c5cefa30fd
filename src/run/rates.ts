import type { Endpoint } from '../endpoints';
import type { Key } from '../keys/key';
import type { RateAnswer, RateLimits } from '../limits/rate-limits';
import type { RunRequest } from './request';

type Counted = Pick<RunRequest, 'arrived' | 'also'>;

/** Counts a request of a key, whatever becomes of it. @throws ServiceError rateLimitExceeded */
export function countRequest(request: Counted, key: Key, rates: RateLimits): void {
  apply(rates.countKey(key, request.arrived), request);
}

/** Counts it among those of all keys to the endpoint. @throws ServiceError rateLimitExceeded */
export function countEndpoint(request: Counted, endpoint: Endpoint, key: Key, rates: RateLimits): void {
  const answer = rates.countEndpoint(endpoint, key, request.arrived);
  if (answer !== null) apply(answer, request);
}

function apply({ headers, refusal }: RateAnswer, request: Counted): void {
  request.also(headers);
  if (refusal !== null) throw refusal;
}
