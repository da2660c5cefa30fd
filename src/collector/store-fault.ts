import { ServiceError, systemCode } from '../errors';

/** Codes of a disk, or of a user's part of it, that is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Seconds after which a shipper is to send again. */
const RETRY = 5;

/** The error for a batch that could not be stored: the shipper is to hold it and to send it again. */
export function storeFault(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (FULL.has(systemCode(cause) ?? '')) return diskFull(cause);
  return new ServiceError(
    'backendUnavailable',
    'The events could not be stored. Send them again.',
    { retryAfter: RETRY },
    { cause },
  );
}

export function diskFull(cause?: unknown): ServiceError {
  return new ServiceError(
    'insufficientStorage',
    'There is too little free space to store events. Send them again later.',
    { retryAfter: RETRY },
    { cause },
  );
}
