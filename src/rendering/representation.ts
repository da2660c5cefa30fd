import Negotiator from 'negotiator';

import { ServiceError } from '../errors';

/** The forms in which a result is answered (docs/http.md). */
const REPRESENTATIONS = ['application/json', 'application/x-ndjson', 'text/csv'] as const;

export type Representation = (typeof REPRESENTATIONS)[number];

export const CONTENT_TYPES: Readonly<Record<Representation, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/x-ndjson': 'application/x-ndjson; charset=utf-8',
  'text/csv': 'text/csv; charset=utf-8; header=present',
};

/** Parameters of a media range other than its weight: `application/json; charset=utf-8` means our JSON. */
const RANGE_PARAMETER = /;\s*(?!q\s*=)[^;,=\s"]+\s*=\s*(?:"[^"]*"|[^;,"]*)/gi;

/** Ranges of one header that are looked at: each is compared with every form, and then sorted. */
const MOST_RANGES = 100;

/**
 * The form that an `Accept` header asks for (RFC 9110, 12.5.1); JSON where it leaves the choice.
 *
 * @throws ServiceError notAcceptable
 */
export function chooseRepresentation(accept: string | undefined): Representation {
  if (accept === undefined || accept.trim() === '') return 'application/json';
  const headers = { accept: accept.replace(RANGE_PARAMETER, '').split(',', MOST_RANGES).join() };
  const chosen = new Negotiator({ headers }).mediaType([...REPRESENTATIONS]);
  if (chosen !== undefined) return chosen as Representation;
  throw new ServiceError('notAcceptable', 'None of the media types in Accept can be answered.', {
    allowed: REPRESENTATIONS,
  });
}
