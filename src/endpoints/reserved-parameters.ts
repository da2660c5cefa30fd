import { ServiceError } from '../errors';
import type { SOFT_RESERVED } from './declaration';
import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue, type RawEntry } from './raw-entries';

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

/** A page of a result that is asked for. */
export interface Paging {
  /** Rows. */
  readonly size: number;
  /** As the answer before gave it; null: the first page. */
  readonly token: string | null;
}

/**
 * Reads `page_size` and `page_token`; null where neither is given, or the endpoint declares a parameter of such a name.
 *
 * @throws ServiceError `invalidParameter`
 */
export function readPaging(
  { parameters, maxRows }: Pick<Endpoint, 'parameters' | 'maxRows'>,
  raw: readonly RawEntry[],
): Paging | null {
  if (parameters.some(({ name }) => name === 'page_size' || name === 'page_token')) return null;
  const [size, token] = [onlyValue(raw, 'page_size'), onlyValue(raw, 'page_token')];
  if (size === null && token === null) return null;
  const rows = size !== null && 'text' in size && /^\d{1,5}$/.test(size.text) ? Number(size.text) : 0;
  if (rows < 1 || rows > maxRows) {
    const message = `Parameter "page_size" must be a whole number from 1 to ${String(maxRows)}.`;
    throw new ServiceError('invalidParameter', message, { parameter: 'page_size' });
  }
  if (token !== null && token.kind !== 'text') {
    throw new ServiceError('invalidParameter', 'Parameter "page_token" must be a text.', { parameter: 'page_token' });
  }
  return { size: rows, token: token?.text ?? null };
}

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
