import { ServiceError } from '../errors';
import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue } from './quote-value';
import type { RawEntry } from './raw-entry';

const FORMS = ['micros', 'iso'] as const;

/**
 * How `timestamps` has TIMESTAMP written: as microseconds unless it says otherwise, or the endpoint declares a parameter of this
 * name.
 *
 * @throws ServiceError `invalidParameter`
 */
export function readTimestampForm(
  { parameters }: Pick<Endpoint, 'parameters'>,
  raw: readonly RawEntry[],
): (typeof FORMS)[number] {
  if (parameters.some(({ name }) => name === 'timestamps')) return 'micros';
  const value = onlyValue(raw, 'timestamps');
  if (value === null) return 'micros';
  const form = FORMS.find((one) => value.kind === 'text' && value.text === one);
  if (form !== undefined) return form;
  const came = 'text' in value ? quoteValue(value.text) : `an ${value.kind}`;
  throw new ServiceError('invalidParameter', `Parameter "timestamps" must be micros or iso, not ${came}.`, {
    parameter: 'timestamps',
    allowed: FORMS,
  });
}
