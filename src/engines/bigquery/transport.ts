/**
 * HTTP to BigQuery: credentials, one request, its failure read. The official client finds project, endpoint and
 * credentials; its own request path is not used, since it cannot be aborted and copies every row several times
 * (docs/decisions/bigquery-rest.md).
 */
import { BigQuery } from '@google-cloud/bigquery';
import { PassThroughClient } from 'google-auth-library';
import type { ErrorProto } from './api';
import { ApiFailure } from './errors';

export interface TransportOptions {
  readonly projectId: string;
  /** Origin of a local BigQuery (`http://127.0.0.1:9050`); null: Google's. A local one gets no credentials. */
  readonly host: string | null;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Below `/bigquery/v2/projects/<project>`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** An answer larger than this is not BigQuery's: its pages hold at most 10 MB of rows. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export class Transport {
  readonly #client: BigQuery;
  readonly #base: string;

  constructor({ projectId, host }: TransportOptions) {
    this.#client = new BigQuery(
      host === null ? { projectId } : { projectId, apiEndpoint: host, authClient: new PassThroughClient() },
    );
    const origin = host ?? 'https://bigquery.googleapis.com';
    this.#base = `${origin}/bigquery/v2/projects/${encodeURIComponent(projectId)}`;
  }

  /**
   * Sends one request and reads its JSON answer.
   *
   * @throws ApiFailure for an error answer, an answer that is no JSON, a broken connection; AbortError after `signal`
   */
  async send<T>(request: Request): Promise<T> {
    const url = `${this.#base}${request.path}?${new URLSearchParams({ prettyPrint: 'false', ...request.query })}`;
    const response = await this.#fetch(url, request);
    const text = await this.#text(response, request.signal);
    const json = parseJson(text);
    if (!response.ok) throw readFailure(response.status, json);
    if (typeof json !== 'object' || json === null) {
      throw new ApiFailure(response.status, 'malformedAnswer', 'The answer is no JSON object.');
    }
    return json as T;
  }

  async #fetch(url: string, { method, body, signal }: Request): Promise<Response> {
    const credentials = await this.#client.authClient.getRequestHeaders(url).catch((cause: unknown) => {
      throw new ApiFailure(401, 'noCredentials', 'No credentials could be had.', { cause: nameOf(cause) });
    });
    const headers = new Headers(credentials);
    headers.set('accept', 'application/json');
    if (body !== undefined) headers.set('content-type', 'application/json');
    try {
      return await fetch(url, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw connectionFailure(error, signal);
    }
  }

  async #text(response: Response, signal: AbortSignal): Promise<string> {
    if (Number(response.headers.get('content-length')) > MAX_BODY_BYTES) {
      await response.body?.cancel();
      throw new ApiFailure(response.status, 'malformedAnswer', 'The answer is too long.');
    }
    try {
      return await response.text();
    } catch (error) {
      throw connectionFailure(error, signal);
    }
  }
}

/** The raw error may carry the request with its bearer token, so only its name and code go on. */
function connectionFailure(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason instanceof Error ? signal.reason : new DOMException('Aborted', 'AbortError');
  return new ApiFailure(null, 'connectionFailed', 'The connection to BigQuery failed.', { cause: nameOf(error) });
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error object may be missing (a proxy's HTML page): then the status alone speaks. */
function readFailure(status: number, json: unknown): ApiFailure {
  const error = (json as { error?: { message?: unknown; errors?: readonly ErrorProto[] } } | undefined)?.error;
  const first = error?.errors?.[0];
  const message = first?.message ?? error?.message;
  return new ApiFailure(
    status,
    first?.reason ?? 'unknown',
    typeof message === 'string' ? message : `HTTP status ${status}`,
  );
}
