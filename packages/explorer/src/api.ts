import { type Json, member, parseExactly, recordIn } from './exact-json';

/** A parameter of an endpoint, as `GET /api/endpoints` describes it. */
export interface ParameterDescription {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  readonly default?: unknown;
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Pinned by the key. */
  readonly fixed?: true;
}

export interface EndpointDescription {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly params: readonly ParameterDescription[];
  readonly maxRows: number;
  readonly cacheTtl: number;
  readonly sandbox: boolean;
  readonly redactPii: boolean;
  /** Whether its rows can be followed as they arrive. */
  readonly tail?: boolean;
  readonly tables: readonly string[];
}

/** An answer with an error, or none at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    message: string,
    /** HTTP status; 0: there was no answer. */
    readonly status: number,
    readonly reason: string,
    readonly details: {
      readonly hint?: string;
      readonly line?: number;
      readonly column?: number;
      readonly requestId?: string;
    } = {},
  ) {
    super(message);
  }
}

/** What is sent, by parameter; a list is sent several times. */
export type Sent = ReadonlyMap<string, string | readonly string[]>;

/** What is sent as it is in a URL. */
export function pairsOf(parameters: Sent): [name: string, value: string][] {
  return [...parameters].flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));
}

export interface Answer {
  readonly text: string;
  readonly headers: Headers;
}

/** Longer queries go as the body of a POST. */
const LONGEST_URL = 6000;

let skew = 0;

/** The service's clock in milliseconds since the epoch, to a second: rows are written by its time, not the browser's. */
export function serviceNow(): number {
  return Date.now() + skew;
}

/** Asks one of the service's routes. @param accept the form of the answer @throws ApiError, or what the signal aborts with */
export async function ask(
  path: string,
  parameters: Sent,
  key: string,
  signal: AbortSignal,
  accept = 'application/json',
): Promise<Answer> {
  const response = await send(path, parameters, key, signal, { Accept: accept });
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date) && Math.abs(date - Date.now()) > 2000) skew = date - Date.now();
  const text = await response.text();
  // An error may come with 200, as from Logflare (QUERY_ERRORS).
  const status = Number(response.headers.get('x-error-status') ?? response.status);
  if (status >= 400) throw errorOf(text, status, response.statusText);
  return { text, headers: response.headers };
}

/** Asks for what comes little by little. @param lastId of the event to go on behind; empty: none @throws as `ask` */
export async function askStream(
  path: string,
  parameters: Sent,
  key: string,
  signal: AbortSignal,
  accept: string,
  lastId = '',
): Promise<ReadableStream<Uint8Array>> {
  const more = lastId === '' ? {} : { 'Last-Event-ID': lastId };
  const response = await send(path, parameters, key, signal, { Accept: accept, ...more });
  const status = Number(response.headers.get('x-error-status') ?? response.status);
  if (status < 400 && response.body !== null) return response.body;
  throw errorOf(await response.text(), status, response.statusText);
}

/** Gives another key for one that is not taken any more; null: there is none. */
let renewed: (before: string) => Promise<string | null> = () => Promise.resolve(null);

export function renewWith(renew: typeof renewed): void {
  renewed = renew;
}

async function send(...given: Parameters<typeof sendOnce>): Promise<Response> {
  const response = await sendOnce(...given);
  const [path, parameters, key, signal, more] = given;
  const token = response.status === 401 ? await renewed(key) : null;
  return token === null ? response : sendOnce(path, parameters, token, signal, more);
}

async function sendOnce(
  path: string,
  parameters: Sent,
  key: string,
  signal: AbortSignal,
  more: Readonly<Record<string, string>>,
): Promise<Response> {
  const query = new URLSearchParams(pairsOf(parameters)).toString();
  const long = query.length > LONGEST_URL;
  // Relative to the page, which a proxy may serve under a path of its own.
  const url = long || query === '' ? path : `${path}?${query}`;
  const init = {
    ...(long ? { method: 'POST', body: new URLSearchParams(pairsOf(parameters)) } : {}),
    headers: { 'X-API-KEY': key, ...more },
    signal,
    redirect: 'error',
    // The browser would answer again with the age and the clock of the first time, and keep rows on its disk.
    cache: 'no-store',
  } as const;
  try {
    return await fetch(url, init);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError('The service does not answer. Is it running, and is the network there?', 0, 'unreachable');
  }
}

function errorOf(text: string, status: number, statusText: string): ApiError {
  let body: Json = null;
  try {
    body = parseExactly(text);
  } catch {
    // A proxy's page: its status says what there is to say.
  }
  const given = member(recordIn(body), 'error');
  const error = recordIn(given);
  const first = recordIn((member(error, 'errors') as readonly Json[] | undefined)?.[0]);
  const textOf = (name: string): string | undefined => {
    const value = member(first, name) ?? member(error, name);
    return typeof value === 'string' ? value : undefined;
  };
  const numberOf = (name: string): number | undefined => {
    const value = member(first, name);
    return typeof value === 'number' ? value : undefined;
  };
  const [hint, requestId, line, column] = [textOf('hint'), textOf('requestId'), numberOf('line'), numberOf('column')];
  const message = textOf('message') ?? (typeof given === 'string' ? given : `${status} ${statusText}`);
  return new ApiError(message, status, textOf('reason') ?? 'unknown', {
    ...(hint === undefined ? {} : { hint }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  });
}
