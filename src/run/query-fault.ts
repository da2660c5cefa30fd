import { QueryError, ServiceError } from '../errors';

/**
 * A fault in the SQL of a stored query as its caller sees it: they did not write that text, so its positions and words
 * stay inside. For `catch`: anything else is thrown on as it is.
 */
export function forCaller(thrown: unknown): never {
  if (!(thrown instanceof QueryError)) throw thrown;
  throw new ServiceError(thrown.fault, thrown.message, {}, { cause: thrown });
}
