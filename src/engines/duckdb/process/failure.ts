import { ServiceError } from '../../service-error';
import { QueryError } from '../../../googlesql/errors';
import { DataFault } from '../data/data-fault';
import { messageOf } from '../engine/native-error';
import type { Failure } from './messages';

/** An error as plain data, for the other process. */
export function toFailure(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof QueryError) {
    const { fault, span, details } = error;
    return { type: 'query', fault, message, span: span && { start: span.start, end: span.end }, details };
  }
  if (error instanceof ServiceError) {
    return { type: 'service', reason: error.reason, message, details: error.details };
  }
  if (error instanceof DataFault) return { type: 'data', message };
  if (error instanceof DOMException && error.name === 'AbortError') return { type: 'abort', message };
  return { type: 'other', message, stack: error instanceof Error ? (error.stack ?? null) : null };
}

/** The error that it was. */
export function toError(failure: Failure): Error {
  switch (failure.type) {
    case 'query':
      return new QueryError(failure.fault, failure.message, failure.span, failure.details);
    case 'service':
      return new ServiceError(failure.reason, failure.message, failure.details);
    case 'abort':
      return new DOMException(failure.message, 'AbortError');
    case 'data':
      return new DataFault(failure.message);
    case 'other': {
      const error = new Error(failure.message);
      if (failure.stack !== null) error.stack = failure.stack;
      return error;
    }
  }
}
