import type { OtlpEncoding } from '@logquay/collector';
import { ERRORS, type ServiceError } from '../../errors';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { errorResponse, type NamedResponse } from '../response/response';
import { admitSender, contentType, JSON_TYPE, limitsOf, readBatchBody } from './collect';

const TYPES = { json: JSON_TYPE, protobuf: 'application/x-protobuf' } as const satisfies Record<OtlpEncoding, string>;

/** Numbers of google.rpc.Code. */
const CODES: Readonly<Record<(typeof ERRORS)[keyof typeof ERRORS]['status'], number>> = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
};

/** What exporters send again; everything else is lost to them. */
const SENT_AGAIN = new Set([429, 502, 503, 504]);

const REJECTED = 'Records that are wider or longer than a row may be are not stored.';

/** `POST /v1/logs`: OTLP over HTTP, in protobuf or JSON. Answers when the records are written (docs/data.md). */
export async function answerOtlp(exchange: Exchange, services: () => Services): Promise<void> {
  const { writeResponse, writeStatus } = await import('@logquay/collector/otlp');
  const encoding = contentType(exchange.headers) === TYPES.protobuf ? 'protobuf' : 'json';
  const bodyOf = (json: object, protobuf: () => Uint8Array): Buffer =>
    Buffer.from(encoding === 'json' ? JSON.stringify(json) : protobuf());
  exchange.answerErrorsAs((error) => {
    const code = CODES[ERRORS[error.reason].status];
    const message = messageOf(error);
    return errorOf(
      error,
      TYPES[encoding],
      bodyOf({ code, message }, () => writeStatus(code, message)),
    );
  });
  const { collector, key } = await admitSender(exchange, services());
  const body = await readBatchBody(exchange, collector, Object.values(TYPES));
  const { project = null } = key;
  const { table, events, refused } = await collector.collectOtlp({ encoding, body, project }, limitsOf(exchange, key));
  exchange.record({ table, events });
  const partialSuccess = { rejectedLogRecords: String(refused), errorMessage: REJECTED };
  exchange.send({
    status: 200,
    headers: { 'Content-Type': TYPES[encoding], 'Cache-Control': 'no-store' },
    body: bodyOf(refused === 0 ? {} : { partialSuccess }, () => writeResponse(refused, REJECTED)),
  });
}

/** As any error, but for its body: and what is worth another request has a status that exporters take for that. */
function errorOf(error: ServiceError, type: string, body: Buffer): NamedResponse {
  const { status: http, headers } = errorResponse(error, '');
  const status = error.reason === 'insufficientStorage' ? 503 : http;
  const retry = SENT_AGAIN.has(status) ? { 'Retry-After': headers['Retry-After'] ?? '1' } : {};
  return { status, headers: { ...headers, ...retry, 'Content-Type': type }, body };
}

function messageOf({ message, details: { hint, allowed } }: ServiceError): string {
  const more = [
    ...(hint === undefined ? [] : [hint]),
    ...(allowed === undefined ? [] : [`Allowed: ${allowed.join(', ')}.`]),
  ];
  return [message, ...more].join(' ');
}
