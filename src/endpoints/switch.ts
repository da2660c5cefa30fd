import { ServiceError } from '../errors';
import { type SOFT_RESERVED } from './declaration';
import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue } from './quote-value';
import type { RawEntry } from './raw-entry';

/**
 * Reads a parameter that switches a feature on. An endpoint that declares one of this name keeps it: the feature is off there.
 *
 * @throws ServiceError `invalidParameter` for anything but true and false
 */
export function readSwitch(
  endpoint: Pick<Endpoint, 'parameters'>,
  raw: readonly RawEntry[],
  name: (typeof SOFT_RESERVED)[number],
): boolean {
  if (endpoint.parameters.some((declared) => declared.name === name)) return false;
  const value = onlyValue(raw, name);
  if (value === null) return false;
  if ('text' in value && (value.text === 'true' || value.text === 'false')) return value.text === 'true';
  const came = 'text' in value ? quoteValue(value.text) : `an ${value.kind}`;
  const details = { parameter: name, allowed: ['true', 'false'] };
  throw new ServiceError('invalidParameter', `Parameter "${name}" must be true or false, not ${came}.`, details);
}
