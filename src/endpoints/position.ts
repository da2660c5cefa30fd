import { ServiceError } from '../errors';
import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue } from './quote-value';
import type { RawEntry } from './raw-entry';

/**
 * Reads `position`, a place in the text of a consumer query in code points. An endpoint that declares a parameter of this name
 * keeps it.
 *
 * @returns null: it is not given
 * @throws ServiceError `invalidParameter` for anything but a whole number from 0
 */
export function readPosition(endpoint: Pick<Endpoint, 'parameters'>, raw: readonly RawEntry[]): number | null {
  if (endpoint.parameters.some(({ name }) => name === 'position')) return null;
  const value = onlyValue(raw, 'position');
  if (value === null) return null;
  if ('text' in value && /^\d{1,6}$/.test(value.text)) return Number(value.text);
  const came = 'text' in value ? quoteValue(value.text) : `an ${value.kind}`;
  throw new ServiceError('invalidParameter', `Parameter "position" must be a whole number from 0, not ${came}.`, {
    parameter: 'position',
  });
}
