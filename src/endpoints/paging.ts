import { ServiceError } from '../errors';
import type { Endpoint } from './endpoint';
import { onlyValue } from './parameters';
import type { RawEntry } from './raw-entry';

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
