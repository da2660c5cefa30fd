import { ServiceError } from '../errors';

/** As messages and pages spell it. */
const NAME = 'LF-ENDPOINT-REDACT-PII';

/**
 * Whether `LF-ENDPOINT-REDACT-PII` asks for redaction: `true` in any case does, `false` and empty do not. Of several
 * values, in one header or several (RFC 9110, 5.3), one that asks is enough.
 *
 * @param values of the header, in order; none: it is absent
 * @throws ServiceError invalidParameter for any other value: ignoring it would return unmasked rows to a caller who
 *   requested masked ones
 */
export function asksForRedaction(values: readonly string[]): boolean {
  const given = values.flatMap((value) => value.split(',')).map((value) => value.trim().toLowerCase());
  if (given.every((value) => value === 'true' || value === 'false' || value === '')) return given.includes('true');
  throw new ServiceError('invalidParameter', `The header ${NAME} must be true or false.`, {
    parameter: NAME,
    allowed: ['true', 'false'],
  });
}
