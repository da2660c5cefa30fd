import { ServiceError } from '../errors';

import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue } from './quote-value';
import type { RawEntry } from './raw-entry';

/** Longest consumer text, in bytes of UTF-8. */
const LONGEST_TEXT = 65_536;

/** What the reserved parameters ask for. */
export interface ConsumerRequest {
  readonly query: { readonly language: 'sql' | 'lql'; readonly text: string } | null;
  readonly dryRun: boolean;
}

/**
 * Reads `sql`, `lql` and `dry_run` (docs/endpoints.md). Throws `invalidParameter`, with the parameter's name, for a
 * value of the wrong type or length, for one given twice, and for a consumer query where the endpoint takes none. With
 * both languages `sql` wins. What the engine and the key allow is judged by whoever knows them.
 */
export function readConsumerRequest(endpoint: Endpoint, raw: readonly RawEntry[]): ConsumerRequest {
  const dryRun = readDryRun(raw);
  const sql = readText(endpoint, raw, 'sql');
  const lql = readText(endpoint, raw, 'lql');
  if (sql !== null) return { query: { language: 'sql', text: sql }, dryRun };
  if (lql !== null) return { query: { language: 'lql', text: lql }, dryRun };
  return { query: null, dryRun };
}

/** Whether `sql` or `lql` is given, well-formed or not, to be run rather than estimated. */
export function hasConsumerQuery(raw: readonly RawEntry[]): boolean {
  const given = raw.filter(({ value }) => value.kind !== 'null' && !('text' in value && value.text === ''));
  const dryRun = given.some(({ name, value }) => name === 'dry_run' && 'text' in value && value.text === 'true');
  return !dryRun && given.some(({ name }) => name === 'sql' || name === 'lql');
}

function readText(endpoint: Endpoint, raw: readonly RawEntry[], parameter: 'sql' | 'lql'): string | null {
  const value = onlyValue(raw, parameter);
  if (value === null) return null;
  const refuse = (message: string) => new ServiceError('invalidParameter', message, { parameter });
  if (value.kind !== 'text') throw refuse(`Parameter "${parameter}" must be a string.`);
  if (Buffer.byteLength(value.text, 'utf8') > LONGEST_TEXT) {
    throw refuse(`Parameter "${parameter}" must be at most ${String(LONGEST_TEXT)} bytes long.`);
  }
  // Engines read UTF-8, which has no halves of a pair.
  if (/\p{Surrogate}/u.test(value.text)) throw refuse(`Parameter "${parameter}" holds a lone surrogate.`);
  if (!endpoint.sandbox) throw refuse(`The endpoint ${endpoint.name} takes no "${parameter}".`);
  return value.text;
}

function readDryRun(raw: readonly RawEntry[]): boolean {
  const value = onlyValue(raw, 'dry_run');
  if (value === null) return false;
  if ((value.kind === 'text' || value.kind === 'boolean') && (value.text === 'true' || value.text === 'false')) {
    return value.text === 'true';
  }
  const came = 'text' in value ? quoteValue(value.text) : `an ${value.kind}`;
  throw new ServiceError('invalidParameter', `Parameter "dry_run" must be true or false, not ${came}.`, {
    parameter: 'dry_run',
    allowed: ['true', 'false'],
  });
}
