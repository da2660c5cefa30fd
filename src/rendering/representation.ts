import Negotiator from 'negotiator';

import { ServiceError } from '../errors';

/** The forms in which a result is answered (docs/querying.md); the first one where `Accept` leaves the choice. */
const REPRESENTATIONS = ['application/json', 'application/x-ndjson', 'text/csv'] as const;

export type Representation = (typeof REPRESENTATIONS)[number];

/** The form of exports alone, of columns rather than rows: a process of its own makes it of rows as NDJSON. */
export const PARQUET = 'application/vnd.apache.parquet';

/** The forms of an export (docs/querying.md): those that need not be there as a whole. */
export const EXPORTED = ['application/x-ndjson', 'text/csv', PARQUET] as const;

export const CONTENT_TYPES: Readonly<Record<Representation, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/x-ndjson': 'application/x-ndjson; charset=utf-8',
  'text/csv': 'text/csv; charset=utf-8; header=present',
};

/** What the name of a file in this form ends with. */
export const FILE_EXTENSIONS: Readonly<Record<Representation | typeof PARQUET, string>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
  [PARQUET]: 'parquet',
};

/** Parameters of a media range other than its weight: `application/json; charset=utf-8` means our JSON. */
const RANGE_PARAMETER = /;\s*(?!q\s*=)[^;,=\s"]+\s*=\s*(?:"[^"]*"|[^;,"]*)/gi;

/** Ranges of one header that are looked at: each is compared with every form, and then sorted. */
const MOST_RANGES = 100;

/**
 * The form that an `Accept` header asks for (RFC 9110, 12.5.1); the first one where it leaves the choice.
 *
 * @throws ServiceError notAcceptable
 */
export function chooseRepresentation(accept: string | undefined): Representation;
export function chooseRepresentation<Form extends string>(
  accept: string | undefined,
  forms: readonly [Form, ...Form[]],
): Form;
export function chooseRepresentation(
  accept: string | undefined,
  forms: readonly [string, ...string[]] = REPRESENTATIONS,
): string {
  if (accept === undefined || accept.trim() === '') return forms[0];
  const chosen = negotiator(accept).mediaType([...forms]);
  if (chosen !== undefined) return chosen;
  throw new ServiceError('notAcceptable', 'None of the media types in Accept can be answered.', {
    allowed: forms,
  });
}

/** Whether an `Accept` header takes a type; absent, it takes every one. */
export function takesType(accept: string | undefined, type: string): boolean {
  return accept === undefined || accept.trim() === '' || negotiator(accept).mediaType([type]) !== undefined;
}

/** Whether the header names the type itself, as browsers do when they open a page, and not just a wildcard. */
export function namesType(accept: string | undefined, type: string): boolean {
  return accept !== undefined && negotiator(accept.toLowerCase()).mediaTypes().includes(type);
}

function negotiator(accept: string): Negotiator {
  return new Negotiator({ headers: { accept: accept.replace(RANGE_PARAMETER, '').split(',', MOST_RANGES).join() } });
}
