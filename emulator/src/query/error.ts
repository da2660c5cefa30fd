/** HTTP status and gRPC status name of each reason that BigQuery gives; any other reason is answered 400. */
const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  invalidQuery: [400, 'INVALID_ARGUMENT'],
  invalid: [400, 'INVALID_ARGUMENT'],
  resourcesExceeded: [400, 'INVALID_ARGUMENT'],
  unauthorized: [401, 'UNAUTHENTICATED'],
  accessDenied: [403, 'PERMISSION_DENIED'],
  quotaExceeded: [403, 'RESOURCE_EXHAUSTED'],
  rateLimitExceeded: [403, 'RESOURCE_EXHAUSTED'],
  responseTooLarge: [403, 'PERMISSION_DENIED'],
  notFound: [404, 'NOT_FOUND'],
  duplicate: [409, 'ALREADY_EXISTS'],
  stopped: [499, 'CANCELLED'],
  // Not 400, as one would think: verified by several clients.
  bytesBilledLimitExceeded: [500, 'INTERNAL'],
  internalError: [500, 'INTERNAL'],
  notImplemented: [501, 'UNIMPLEMENTED'],
  backendError: [503, 'UNAVAILABLE'],
};

/** One entry of `errors` in an answer of the API. */
export interface ErrorEntry {
  readonly reason: string;
  readonly message: string;
  readonly location?: string;
  readonly locationType?: string;
  readonly domain?: string;
}

/** An error as BigQuery's API answers it. */
export class BigQueryError extends Error {
  readonly code: number;

  constructor(
    readonly reason: string,
    message: string,
    readonly place: { readonly location?: string; readonly locationType?: string } = {},
    code?: number,
  ) {
    super(message);
    this.name = 'BigQueryError';
    this.code = code ?? STATUS[reason]?.[0] ?? 400;
  }

  /** As it stands in `status.errorResult` of a job. */
  get entry(): ErrorEntry {
    const { location } = this.place;
    return { reason: this.reason, ...(location === undefined ? {} : { location }), message: this.message };
  }

  /** The body of the HTTP answer. */
  get body(): { readonly error: Record<string, unknown> } {
    return {
      error: {
        code: this.code,
        message: this.message,
        errors: [{ message: this.message, domain: 'global', reason: this.reason, ...this.place }],
        status: STATUS[this.reason]?.[1] ?? 'INVALID_ARGUMENT',
      },
    };
  }
}

/** A failed job's error as jobs.query and getQueryResults answer it, where passing reasons have names of their own. */
export function asAnswered(error: BigQueryError): BigQueryError {
  const passing = ['backendError', 'internalError', 'rateLimitExceeded'].includes(error.reason);
  return passing ? new BigQueryError(`job${capital(error.reason)}`, error.message) : error;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A fault in a query's text. */
export function invalidQuery(message: string): BigQueryError {
  return new BigQueryError('invalidQuery', message, { location: 'q', locationType: 'parameter' });
}

/** A fault in a request. */
export function invalid(message: string, location?: string): BigQueryError {
  return new BigQueryError('invalid', message, location === undefined ? {} : { location });
}

export function notFound(what: string): BigQueryError {
  return new BigQueryError('notFound', `Not found: ${what}`);
}
