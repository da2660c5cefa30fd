import { ServiceError } from '../../errors';

export function deadlineExceeded(): ServiceError {
  return new ServiceError(
    'deadlineExceeded',
    'The query did not finish in time. Reduce the time range or ask for less.',
  );
}

export function abortError(): DOMException {
  return new DOMException('The query was cancelled', 'AbortError');
}
