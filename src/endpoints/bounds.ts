import { ServiceError } from '../errors';

/** Parameters in one URL or one body: no endpoint declares a tenth of it. */
export const MOST_PARAMETERS = 256;
/** Values in all lists of a JSON body. */
export const MOST_LISTED = 10_000;
/** Objects and arrays open at once in a JSON body: none of them means anything. */
export const MOST_NESTING = 100;

export function tooManyValues(): ServiceError {
  return new ServiceError('invalidParameter', `The lists of a body have at most ${MOST_LISTED} values together.`);
}

export function tooManyParameters(): ServiceError {
  return new ServiceError('invalidParameter', `A request has at most ${MOST_PARAMETERS} parameters.`);
}
