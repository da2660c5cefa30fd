import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { ERRORS } from '../errors';
import type { Log } from '../log';
import type { Answer } from './answer';
import type { Cors } from './cors';
import { asServiceError, errorAnswer } from './error-answer';
import { RequestHeaders } from './headers';
import { SECURITY_HEADERS } from './security-headers';

/** A request id that is echoed: short, and of characters that are safe in a header, a log and a URL. */
const SANE_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

const SECURITY = Object.entries(SECURITY_HEADERS).flat();

/** What the service's life means for every answer. */
export interface ExchangeContext {
  readonly log: Log;
  readonly cors: Cors;
  /** Whether connections are being closed. */
  readonly draining: () => boolean;
}

/** One request and its answer: the id, the clock, what the log line says, and the one place that writes. */
export class Exchange {
  /** Milliseconds of `performance.now()`. */
  readonly arrived = performance.now();
  readonly headers: RequestHeaders;
  readonly id: string;
  /** What the log line tells beside the usual. */
  readonly told: { route?: string; endpoint?: string; key?: string; cache?: string; reason?: string } = {};
  readonly #phases: string[] = [];
  /** Made when somebody asks for it: answers that are at hand need none. */
  #abort: AbortController | null = null;
  #gone = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly context: ExchangeContext,
  ) {
    this.headers = new RequestHeaders(request.rawHeaders);
    const given = this.headers.list('x-request-id');
    this.id = given !== undefined && SANE_ID.test(given) ? given : randomUUID();
    response.once('close', () => {
      this.#gone = !response.writableFinished;
      if (this.#gone) this.#abort?.abort();
      this.#log();
    });
  }

  /** Aborted when the client has gone before its answer. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#gone) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** Does one step of the request's life and counts its time for Server-Timing. */
  async timed<T>(phase: string, step: () => Promise<T> | T): Promise<T> {
    const start = performance.now();
    try {
      return await step();
    } finally {
      this.#phases.push(`${phase};dur=${(performance.now() - start).toFixed(1)}`);
    }
  }

  /** Writes the answer; nothing where the client has gone or an answer is on its way. */
  answer({ status, headers, body }: Answer): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    this.#phases.push(`total;dur=${(performance.now() - this.arrived).toFixed(1)}`);
    // Flat names and values: Node copies them as they are.
    const head = [...SECURITY, 'X-Request-Id', this.id, 'Server-Timing', this.#phases.join(', ')];
    const { cors } = this.context;
    if (cors.configured) add(head, { ...cors.headers(this.headers), Vary: varyOf(headers.Vary) });
    add(head, cors.configured ? { ...headers, Vary: undefined } : headers);
    if (body !== null) head.push('Content-Length', String(body.length));
    if (this.context.draining()) head.push('Connection', 'close');
    response.writeHead(status, head);
    // Node itself leaves the body of an answer to HEAD out.
    response.end(body ?? undefined);
  }

  /** Answers anything thrown as an error. */
  fail(thrown: unknown): void {
    if (this.#gone) return;
    const error = asServiceError(thrown);
    this.told.reason = error.reason;
    if (ERRORS[error.reason].http >= 500) {
      this.context.log.error({ id: this.id, err: error }, 'a request failed');
    }
    this.answer(errorAnswer(error, this.id));
  }

  /** One line for each request: never a value, a secret or SQL, and so never the URL. */
  #log(): void {
    this.context.log.info(
      {
        id: this.id,
        method: this.request.method,
        ...this.told,
        // 499 is what proxies write for a client that went away.
        status: this.#gone ? 499 : this.response.statusCode,
        ms: Math.round((performance.now() - this.arrived) * 10) / 10,
      },
      'request',
    );
  }
}

function add(head: string[], headers: Readonly<Record<string, string | undefined>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) head.push(name, value);
  }
}

function varyOf(own: string | undefined): string {
  return own === undefined ? 'Origin' : `${own}, Origin`;
}
