/** Everything that is wrong with the parameters of a request: a run names what it meets first. */
import type { Endpoint } from '../endpoints/endpoint';
import { readParameter, unknownParameters } from '../endpoints/parameters';
import type { RawEntry } from '../endpoints/raw-entries';
import { type ConsumerRequest, readPaging, readSwitch, readTimestampForm } from '../endpoints/reserved-parameters';
import { ServiceError } from '../errors';
import type { Key } from '../keys/key';
import type { BoundParameter } from '../engines/contract';
import { checkMayExport } from './authorise';
import { asksForRedaction, checkPageable, refusalOf } from './plan';
import type { Services } from './services';
import type { RunRequest } from './types';

export interface CheckedParameters {
  /** The declared ones, as a run would bind them; null: one of them cannot be bound. */
  readonly parameters: readonly BoundParameter[] | null;
  /** All `invalidParameter`. */
  readonly faults: readonly ServiceError[];
}

/** @throws ServiceError accessDenied, as a run does */
export function checkParameters(
  request: Pick<RunRequest, 'header'>,
  endpoint: Endpoint,
  given: readonly RawEntry[],
  consumer: ConsumerRequest,
  key: Key,
  services: Pick<Services, 'engine' | 'now'>,
): CheckedParameters {
  const faults: ServiceError[] = [];
  const now = services.now();
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.reason !== 'invalidParameter') throw error;
      faults.push(error);
      return null;
    }
  };
  if (endpoint.strictParams) faults.push(...unknownParameters(endpoint, given).map((one) => refusalOf(one, endpoint)));
  const parameters = endpoint.parameters.flatMap(
    (declaration) => attempt(() => readParameter(declaration, given, key.pins, now)) ?? [],
  );
  attempt(() => asksForRedaction(request.header('lf-endpoint-redact-pii')));
  attempt(() => readTimestampForm(endpoint, given));
  if (attempt(() => readSwitch(endpoint, given, 'export')) === true) checkMayExport(key, endpoint);
  else if (attempt(() => readPaging(endpoint, given)) !== null) {
    attempt(() => {
      checkPageable(consumer, 'application/json', key, endpoint, services);
    });
  }
  return { parameters: parameters.length < endpoint.parameters.length ? null : parameters, faults };
}
