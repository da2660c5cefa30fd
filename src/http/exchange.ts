import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { ERRORS, type Reason, ServiceError } from '../errors';
import { TokenRefused } from '../keys/claims';
import { presentsKey } from '../keys/key';
import { type Holding, type Shares, sharesOf } from '../limits/byte-shares';
import type { Log } from '../log';
import type { CompletedRequest, Phase, RequestTelemetry } from '../telemetry';
import type { Encoding } from '../rendering/encoded-response';
import { type HttpResponse, asServiceError, errorResponse, logflareError } from './response/response';
import { EventStream, sendInParts, StreamedBody, watchReader } from './response/streams';
import type { FailedLogins } from './server/failed-logins';
import { RequestHeaders } from './request/headers';
import { ResponseHead } from './response/head';
import type { RequestLog } from './request-log';

/** A request id that is echoed: short, and of characters that are safe in a header, a log and a URL. */
const SANE_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** Bytes of an answer that is sent without a look at what its key's clients have left unread: whoever reads at all takes it at once. */
const SMALL = 64 * 1024;
/** Bytes that an answer takes beside its body: its head, and the objects that stand for it. */
const BESIDE_BODY = 4096;

const TOO_MUCH_UNREAD = 'Clients of this key have not read the answers that they were sent: there is no room for more.';
/** Seconds after which a refused answer is worth another request. */
const RETRY_UNREAD = 5;

/** What an exchange has to do with the service around it. */
export interface ExchangeContext {
  readonly log: Log;
  /** Missing: requests are neither logged nor counted. */
  readonly requests?: RequestLog;
  /** Missing: that of a listener without pages and keys. */
  readonly head?: ResponseHead;
  /** Bytes of answers that clients have not taken yet, and of bodies of requests. */
  readonly shares?: Shares;
  /** Missing: the answer is that of any error. */
  readonly failedLogins?: Pick<FailedLogins, 'count'>;
  /** Missing: it is ready, and nobody waits for the ends of its runs. */
  readonly lifecycle?: {
    /** Whether the service has been ready. */
    readonly opened: boolean;
    /** Announces the deadline of a run, in milliseconds of `performance.now()`: draining waits for it. */
    expectUntil(deadline: number): void;
  };
}

const PLAIN_HEAD = new ResponseHead();
const PLAIN_SHARES = sharesOf(0);

/** A request and its response: the id, the times, the telemetry, and the one place that writes. */
export class Exchange {
  /** Milliseconds of `performance.now()`. */
  readonly arrived = performance.now();
  readonly headers: RequestHeaders;
  readonly id: string;
  readonly telemetry: RequestTelemetry = {};
  readonly #phases: Phase[] = [];
  /** Milliseconds of the steps that were done within the one that is being done. */
  #within = 0;
  /** Of every response, result or error. */
  #common: readonly string[] = [];
  #bytes = 0;
  /** The status for log and metrics where the response's own says less; null: the response's own. */
  #trueStatus: number | null = null;
  /** What an error looks like to the client. */
  #errorForm: (error: ServiceError, requestId: string) => HttpResponse = errorResponse;
  /** Why an answer that was under way was cut. */
  #brokenBy: Reason | null = null;
  /** Made when somebody asks for it: answers that are at hand need none. */
  #abort: AbortController | null = null;
  #gone = false;
  /** What it holds of the answer that its client has not taken, and of its body. */
  readonly #holdings: Holding[] = [];

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
      for (const holding of this.#holdings) holding.release();
      this.#complete();
    });
    // Of a connection that closes, Node does not close the answers that wait for those before them.
    request.once('close', () => {
      if (response.socket !== null || response.writableFinished || !request.socket.destroyed) return;
      response.destroy();
      response.emit('close');
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

  /** Does one step of the request's life and counts its time, without that of steps within it. */
  async timed<T>(phase: string, step: () => Promise<T> | T): Promise<T> {
    const began = performance.now();
    const before = this.#within;
    this.#within = 0;
    try {
      return await step();
    } finally {
      const ended = performance.now();
      const milliseconds = ended - began;
      this.#phases.push({ name: phase, milliseconds: Math.max(0, milliseconds - this.#within), began, ended });
      this.#within = before + milliseconds;
    }
  }

  /** Records attributes for log, metrics and traces. */
  record(attributes: RequestTelemetry): void {
    Object.assign(this.telemetry, attributes);
  }

  /** Announces the deadline of the request's run: draining waits for it. */
  expectUntil(deadline: number): void {
    this.context.lifecycle?.expectUntil(deadline);
  }

  /** Every value of a request header, in order. @param name in lower case */
  header(name: string): readonly string[] {
    return this.headers.values(name);
  }

  /** Sets headers (a flat list) of the response, be it a result or an error; replaces those of an earlier call. */
  setHeaders(headers: readonly string[]): void {
    this.#common = headers;
  }

  /** Counts the bytes of the request's body, for its key, until it is answered. */
  holdBody(): Holding {
    return this.#hold('bodies');
  }

  #hold(what: keyof Shares, cut: (() => void) | null = null): Holding {
    const holding = (this.context.shares ?? PLAIN_SHARES)[what].hold(
      this.telemetry.account ?? this.telemetry.key ?? '',
      cut,
    );
    this.#holdings.push(holding);
    return holding;
  }

  /**
   * Writes the answer; nothing where the client has gone or an answer is on its way. One that finds no room among those that its
   * key's clients have not read is refused, a small one cut.
   */
  send({ status, headers, body: given }: HttpResponse): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const body = this.request.method === 'HEAD' ? null : given;
    const size = body?.length ?? 0;
    if (size > SMALL && !this.#holdUnread(body)) {
      this.#refuse(new ServiceError('tooManyConcurrentQueries', TOO_MUCH_UNREAD, { retryAfter: RETRY_UNREAD }));
      return;
    }
    // A flat header list: Node copies it as it is.
    const head = this.#head(Array.isArray(headers) ? headers : Object.entries(headers).flat());
    if (given !== null) head.push('Content-Length', String(given.length));
    response.writeHead(status, head);
    this.#bytes = size;
    sendInParts(response, body);
    if (response.writableLength === 0) return;
    if (size <= SMALL && !this.#holdUnread(body)) this.#cut();
    else this.#watchReader();
  }

  /** @returns false: there is no room */
  #holdUnread(body: Buffer | null): boolean {
    const holding = this.#hold('unread', () => this.#cut());
    return holding.take(BESIDE_BODY) && (body === null || holding.take(body.length, body));
  }

  /** Ends the connection of a client that does not read. */
  #cut(): void {
    this.#break(new ServiceError('tooManyConcurrentQueries', TOO_MUCH_UNREAD));
  }

  #watchReader(): void {
    watchReader(this.response, (error) => this.#refuse(error));
  }

  /** Begins an answer that is sent while it is being made. @param headers a flat header list */
  beginBody(headers: readonly string[], coding: Encoding | null): StreamedBody {
    const { response } = this;
    if (!response.destroyed) response.writeHead(200, this.#head(headers));
    this.#watchReader();
    return new StreamedBody(response, coding, (bytes) => {
      if (this.request.method !== 'HEAD') this.#bytes += bytes;
    });
  }

  /** Begins an answer of events, as they come. @param headers a flat header list */
  beginEvents(headers: readonly string[]): EventStream {
    const { request, response } = this;
    if (!response.destroyed) response.writeHead(200, this.#head(headers));
    const holding = this.#hold('unread', () => this.#cut());
    const stream = new EventStream(response, holding, (bytes) => (this.#bytes += bytes));
    if (request.method === 'HEAD') response.end();
    else response.flushHeaders();
    return stream;
  }

  #head(own: readonly string[]): string[] {
    const { id, headers } = this;
    const request = { id, headers, pinned: this.telemetry.pinned };
    return (this.context.head ?? PLAIN_HEAD).of(request, [...own, ...this.#common], () => this.#timing());
  }

  /** Answers an error of a consumer query as Logflare does; log and metrics have its true status. */
  failAsLogflare(error: ServiceError): void {
    if (this.#gone) return;
    this.telemetry.reason = error.reason;
    this.#trueStatus = ERRORS[error.reason].http;
    this.send(logflareError(error));
  }

  /** Logs what went wrong within a request that is answered all the same. */
  logFailure(error: unknown): void {
    this.context.log.error({ id: this.id, err: error }, 'a request failed');
  }

  /** From now on errors are answered in another form than most clients know. */
  answerErrorsAs(form: (error: ServiceError) => HttpResponse): void {
    this.#errorForm = form;
  }

  /** Answers anything thrown as an error. */
  fail(thrown: unknown): void {
    const error = asServiceError(thrown);
    // What an issuer has signed is no guess.
    const signed = error instanceof TokenRefused && error.account !== null;
    const loginFailed =
      error.reason === 'unauthenticated' && !signed && presentsKey((name) => this.headers.values(name));
    const { failedLogins } = this.context;
    if (!loginFailed || failedLogins === undefined) {
      this.#refuse(error);
      return;
    }
    const { remoteAddress = '' } = this.request.socket;
    failedLogins.count(remoteAddress, error).then(
      (answer) => this.#refuse(answer),
      (broken: unknown) => this.#refuse(asServiceError(broken)),
    );
  }

  #refuse(error: ServiceError): void {
    if (this.#gone) return;
    this.telemetry.reason = error.reason;
    if (error instanceof TokenRefused) {
      const issuer = error.account === null ? undefined : groupOf(error.account.name);
      this.context.log.info({ id: this.id, issuer, why: error.why }, 'a token is not taken');
    }
    // What comes before the service is ready is no fault: the request's own line has the reason.
    const early = error.reason === 'backendUnavailable' && this.context.lifecycle?.opened === false;
    if (ERRORS[error.reason].http >= 500 && !early) {
      this.context.log.error({ id: this.id, err: error }, 'a request failed');
    }
    if (this.response.headersSent) this.#break(error);
    else this.send(this.#errorForm(error, this.id));
  }

  /** Cuts an answer that is under way, so that nobody takes it for the whole. */
  #break({ reason }: ServiceError): void {
    if (this.response.writableFinished) return;
    this.#brokenBy = reason;
    // A reset: to a client of HTTP/1.0 any other end of the connection is the end of the body.
    this.request.socket.resetAndDestroy();
  }

  #timing(): string {
    let text = '';
    for (const { name, milliseconds } of this.#phases) text += `${name};dur=${milliseconds.toFixed(1)}, `;
    return `${text}total;dur=${(performance.now() - this.arrived).toFixed(1)}`;
  }

  #status(): number {
    if (this.#brokenBy !== null) return ERRORS[this.#brokenBy].http;
    // 499 is what proxies log for a client that closed the connection.
    return this.#gone ? 499 : (this.#trueStatus ?? this.response.statusCode);
  }

  /** Once for each request, when its response has been sent or its client has left. */
  #complete(): void {
    const { arrived, headers } = this;
    const {
      route,
      account,
      key,
      pinned,
      endpoint,
      query,
      cache,
      stored,
      billed,
      rows,
      parameters,
      table,
      events,
      reason,
    } = this.telemetry;
    // Each by its name: spread out with others behind it, V8 gives every object a shape of its own, which halves the rate of hits.
    const completed: Required<CompletedRequest> = {
      route,
      account,
      key,
      pinned,
      endpoint,
      query,
      cache,
      stored,
      billed,
      rows,
      parameters,
      table,
      events,
      reason,
      method: this.request.method ?? '',
      status: this.#status(),
      arrived,
      milliseconds: performance.now() - arrived,
      phases: this.#phases,
      bytes: this.#bytes,
    };
    this.context.requests?.completed(this.id, headers, completed, this.request.url ?? '');
  }
}
