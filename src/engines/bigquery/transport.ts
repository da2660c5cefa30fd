/**
 * HTTP to BigQuery: credentials, one request, its failure read. The official client finds project and credentials; its
 * own request path is not used, since it cannot be aborted and copies every row several times
 * (docs/decisions/dependencies.md).
 */
import { BigQuery } from '@google-cloud/bigquery';
import { PassThroughClient } from 'google-auth-library';

import { type Clock, sleep, SYSTEM_CLOCK, remaining } from '@logquay/duckdb-engine/concurrency';
import type { RunLimits } from '@logquay/duckdb-engine/contract';
import type { ErrorProto } from './api';
import { ApiFailure, isOutage, isTransient } from './api-failure';

export interface TransportOptions {
  readonly projectId: string;
  /** Origin of a local BigQuery (`http://127.0.0.1:9050`), which gets no credentials; null: Google's. */
  readonly emulator: string | null;
  /** Path of a service account's file; null: where Google's libraries look. */
  readonly credentials: string | null;
  /** Notified of every response and every outage; feeds the circuit breaker. */
  readonly observer: { succeeded(): void; failed(): void };
}

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Below `/bigquery/v2/projects/<project>`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Milliseconds without a byte after which the service counts as not answering. */
  readonly patience: number;
  /** Absent: the request goes on until it is answered or the patience ends. */
  readonly signal?: AbortSignal;
}

/** An answer larger than this is not BigQuery's: its pages hold at most 10 MB of rows. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export class Transport {
  readonly #client: BigQuery;
  readonly #base: string;
  readonly #observer: TransportOptions['observer'];

  constructor({ projectId, emulator, credentials, observer }: TransportOptions) {
    this.#client = new BigQuery({
      projectId,
      // With Google's default credentials at hand, the library would send real tokens to a local service too.
      ...(emulator !== null && { apiEndpoint: emulator, authClient: new PassThroughClient() }),
      // The file is the operator's own: what the deprecation warns of are files of somebody else.
      // oxlint-disable-next-line typescript/no-deprecated
      ...(emulator === null && credentials !== null && { keyFilename: credentials }),
    });
    const origin = emulator ?? 'https://bigquery.googleapis.com';
    this.#base = `${origin}/bigquery/v2/projects/${encodeURIComponent(projectId)}`;
    this.#observer = observer;
  }

  /**
   * Sends one request and reads its JSON answer.
   *
   * @throws ApiFailure for an error answer, an answer that is no JSON, a broken connection and a silent service; the
   *   signal's reason once it has fired
   */
  async send<T>(request: Request): Promise<T> {
    try {
      const answer = await this.#exchange(request);
      this.#observer.succeeded();
      return answer as T;
    } catch (error) {
      // A cancelled request says nothing about the service.
      if (request.signal?.aborted === true) throw request.signal.reason;
      const failure = error instanceof ApiFailure ? error : connectionFailure(error);
      if (isOutage(failure)) this.#observer.failed();
      else this.#observer.succeeded();
      throw failure;
    }
  }

  async #exchange({ method, path, query, body, patience, signal }: Request): Promise<object> {
    signal?.throwIfAborted();
    const url = `${this.#base}${path}?${new URLSearchParams({ prettyPrint: 'false', ...query }).toString()}`;
    const given = new AbortController();
    const onAbort = (): void => given.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const silence = setTimeout(() => given.abort(new ApiFailure(null, 'noAnswer')), patience);
    try {
      const headers = await unlessAborted(this.#credentials(url), given.signal);
      headers.set('accept', 'application/json');
      if (body !== undefined) headers.set('content-type', 'application/json');
      const text = body === undefined ? null : JSON.stringify(body);
      const response = await fetch(url, { method, headers, body: text, signal: given.signal });
      silence.refresh();
      return readAnswer(response, await readText(response, () => silence.refresh()));
    } catch (error) {
      throw given.signal.aborted ? given.signal.reason : error;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #credentials(url: string): Promise<Headers> {
    try {
      return new Headers(await this.#client.authClient.getRequestHeaders(url));
    } catch (error) {
      throw new ApiFailure(401, 'noCredentials', nameOf(error));
    }
  }
}

async function readText(response: Response, onBytes: () => void): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    onBytes();
    size += (chunk as Uint8Array).length;
    // Leaving the loop ends the transfer.
    if (size > MAX_BODY_BYTES) throw new ApiFailure(response.status, 'malformedAnswer', 'The answer is too long.');
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString();
}

function readAnswer(response: Response, text: string): object {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  if (!response.ok) throw readFailure(response, json);
  // Half an answer is one that was cut off on its way: another try may bring it whole.
  if (json === undefined) throw new ApiFailure(response.status, 'brokenAnswer', 'The answer is no JSON.');
  if (typeof json !== 'object' || json === null) {
    throw new ApiFailure(response.status, 'malformedAnswer', 'The answer is no JSON object.');
  }
  return json;
}

/** The error object may be missing (a proxy's HTML page): then the status alone speaks. */
function readFailure({ status, headers }: Response, json: unknown): ApiFailure {
  const error = (json as { error?: { message?: unknown; errors?: unknown } } | null | undefined)?.error;
  const [first] = (Array.isArray(error?.errors) ? error.errors : []) as readonly (ErrorProto | null)[];
  const said = typeof first?.reason === 'string' && first.reason !== '' ? first.reason : 'unknown';
  // goccy's emulator says so of whatever is wrong with a query. Google's errors name their domain.
  const isGoccys = said === 'jobInternalError' && first?.domain === undefined && first?.debugInfo !== undefined;
  const reason = isGoccys ? 'invalidQuery' : said;
  const message: unknown = first?.message ?? error?.message;
  const seconds = headers.get('retry-after');
  const retryAfter = seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
  return new ApiFailure(status, reason, typeof message === 'string' ? message : '', retryAfter);
}

/** The raw error may carry the request with its bearer token, so only its name and code go on. */
function connectionFailure(error: unknown): ApiFailure {
  return new ApiFailure(null, 'connectionFailed', nameOf(error));
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = (error.cause as { code?: unknown } | undefined)?.code ?? (error as { code?: unknown }).code;
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

/** The library's request for a token cannot be aborted. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}

/** Retries of transient failures, with jitter, within the limits. */

const RETRIES = 2;
/** Milliseconds before the first retry; doubled for the next. Up to as much again is added at random. */
const BACKOFF = 100;

/**
 * Calls `attempt` again after a transient failure, if the limits leave the delay that the service asks for.
 *
 * @param again which failures another call may help
 * @throws what `attempt` threw last; an AbortError when the signal fires between two attempts
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  limits: RunLimits,
  again: (failure: ApiFailure) => boolean = isTransient,
  clock: Clock = SYSTEM_CLOCK,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiFailure) || !again(error) || retry >= RETRIES) throw error;
      const delay =
        Math.max(BACKOFF * 2 ** retry, (error.retryAfter ?? 0) * 1000) + BACKOFF * 2 ** retry * Math.random();
      if (delay >= remaining(limits, clock)) throw error;
      await sleep(clock, delay, limits.signal);
    }
  }
}
