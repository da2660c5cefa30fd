import { ERRORS } from '../errors';

const REASONS = Object.keys(ERRORS)
  .map((reason) => `  | '${reason}'`)
  .join('\n');

/** What is the same in every client. Plain types and one class: no enum, no decorator, nothing to transpile but types. */
export const RUNTIME = `/** A value of JSON. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** A row whose columns are not known. */
export interface Row {
  readonly [column: string]: Value;
}

/** Reasons of the service's errors: the list is closed. */
export type Reason =
${REASONS};

/** Why there are no rows. */
export type Failure =
  | {
      /** The service has answered with an error. */
      readonly kind: 'service';
      readonly status: number;
      readonly reason: Reason;
      readonly message: string;
      /** Place in the text of sql or lql, from 1. */
      readonly line?: number;
      readonly column?: number;
      readonly near?: string;
      readonly parameter?: string;
      readonly allowed?: readonly string[];
      readonly hint?: string;
      readonly code?: string;
      readonly requestId: string;
      /** Seconds after which the same request may succeed; null: not known. */
      readonly retryAfter: number | null;
    }
  /** Somebody else has answered, such as a proxy. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly message: string }
  /** The signal was aborted. */
  | { readonly kind: 'aborted'; readonly message: string }
  /** There was no answer, or a part of one. */
  | { readonly kind: 'network'; readonly message: string };

export type Result<R> =
  | {
      readonly ok: true;
      readonly rows: readonly R[];
      /** The endpoint gives no more rows than these. */
      readonly truncated: boolean;
      readonly requestId: string | null;
    }
  | { readonly ok: false; readonly error: Failure };

export type EndpointName = keyof Endpoints;
export type RowOf<Name extends EndpointName> = Endpoints[Name]['row'];
export type ParametersOf<Name extends EndpointName> = Endpoints[Name]['parameters'];

/** Endpoints that take queries of your own. */
export type QueryableName = {
  [Name in EndpointName]: Endpoints[Name]['queryable'] extends true ? Name : never;
}[EndpointName];

export interface ClientOptions {
  /** Where the service is: \`http://127.0.0.1:4000\`. */
  readonly url: string;
  readonly key: string;
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** IP and e-mail addresses come as REDACTED. */
  readonly redact?: boolean;
}

type SentValue = string | number | bigint | boolean | Date;
type Sent = SentValue | readonly SentValue[] | null | undefined;

/** Longer URLs, and those of more parameters, are sent as POST. */
const LONGEST_URL = 8000;
const MOST_IN_URL = 200;

export class Logquay {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The rows of a stored query. Never rejects. */
  run<Name extends EndpointName>(
    name: Name,
    parameters: ParametersOf<Name>,
    options: RequestOptions = {},
  ): Promise<Result<RowOf<Name>>> {
    return this.#send(name, parameters as { readonly [name: string]: Sent }, options);
  }

  /** The rows of a query of your own over the tables of an endpoint. Never rejects. */
  query<R = Row, Name extends QueryableName = QueryableName>(
    name: Name,
    parameters: ParametersOf<Name>,
    text: { readonly sql: string } | { readonly lql: string },
    options: RequestOptions = {},
  ): Promise<Result<R>> {
    return this.#send(name, { ...(parameters as { readonly [name: string]: Sent }), ...text }, options);
  }

  async #send<R>(
    name: string,
    parameters: { readonly [name: string]: Sent },
    { signal, redact = false }: RequestOptions,
  ): Promise<Result<R>> {
    const given = Object.entries(parameters).flatMap(([parameter, value]) => {
      if (value === null || value === undefined) return [];
      return [[parameter, typeof value === 'object' && !(value instanceof Date) ? value.map(textOf) : textOf(value)] as const];
    });
    const pairs = given.flatMap(([parameter, value]) => [value].flat().map((one) => [parameter, one] as const));
    const url = \`\${this.#options.url.replace(/\\/+$/, '')}/api/endpoints/query/\${encodeURIComponent(name)}\`;
    const query = pairs.map(([parameter, value]) => \`\${parameter}=\${encodeURIComponent(value)}\`).join('&');
    const inUrl = url.length + query.length < LONGEST_URL && pairs.length <= MOST_IN_URL;
    const headers: { [name: string]: string } = { Accept: 'application/json', 'X-API-KEY': this.#options.key };
    if (redact) headers['LF-ENDPOINT-REDACT-PII'] = 'true';
    if (!inUrl) headers['Content-Type'] = 'application/json';
    const send = this.#options.fetch ?? globalThis.fetch;
    let response: Response;
    let text: string;
    try {
      response = await send(inUrl && query !== '' ? \`\${url}?\${query}\` : url, {
        headers,
        ...(inUrl ? {} : { method: 'POST', body: JSON.stringify(Object.fromEntries(given)) }),
        ...(signal === undefined ? {} : { signal }),
      });
      text = await response.text();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, error: { kind: signal?.aborted === true ? 'aborted' : 'network', message } };
    }
    const body = parse(text);
    if (response.ok && Array.isArray(body?.result)) {
      const truncated = response.headers.get('X-Result-Truncated') === 'true';
      return { ok: true, rows: body.result as R[], truncated, requestId: response.headers.get('X-Request-Id') };
    }
    return { ok: false, error: failure(response, body) };
  }
}

/** An answer of the service, as far as it is one. */
interface Body {
  readonly result?: unknown;
  /** A text: from a service with QUERY_ERRORS=logflare. */
  readonly error?: string | {
    readonly message: string;
    readonly requestId: string;
    readonly errors: readonly [Omit<Failure & { readonly kind: 'service' }, 'kind' | 'status' | 'requestId' | 'retryAfter'>];
  };
}

function textOf(value: SentValue): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

function parse(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function failure({ status, headers }: Response, body: Body | null): Failure {
  const error = body?.error;
  const trueStatus = headers.get('X-Error-Status');
  if (typeof error === 'string' && trueStatus !== null) {
    const reason = trueStatus === '403' ? 'sandboxViolation' : 'invalidQuery';
    const requestId = headers.get('X-Request-Id') ?? '';
    return { kind: 'service', status: Number(trueStatus), reason, message: error, requestId, retryAfter: null };
  }
  const first = typeof error === 'object' ? error.errors?.[0] : undefined;
  if (typeof error !== 'object' || first === undefined) {
    return { kind: 'unreadable', status, message: \`The answer with status \${String(status)} is not one of Logquay.\` };
  }
  const retryAfter = headers.get('Retry-After');
  const seconds = retryAfter === null ? null : Number(retryAfter);
  return { ...first, kind: 'service', status, requestId: error.requestId, retryAfter: seconds };
}
`;
