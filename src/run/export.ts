/** Exports: results of any length, sent while the engine still reads them (docs/querying.md). */
import { raceLimits } from '@logquay/duckdb-engine/concurrency';
import type { LineForm, ResultHead, RunLimits } from '@logquay/duckdb-engine/contract';
import { ServiceError } from '../errors';
import { type Key, currentKey, LOOK_AGAIN } from '../keys/key';
import { columnOf, checkParquet, type Encoder, sendWrittenFile } from '@logquay/duckdb-engine/parquet';
import { csvHeader, closingOfExport } from '../rendering/render';
import { CONTENT_TYPES, FILE_EXTENSIONS, PARQUET } from '../rendering/representation';
import { allowedEndpoint, checkMayExport } from './authorise';
import { redactedNames, renderLines } from './encode-result';
import { engineQuery, limitsOf } from './execute';
import { costHeaders, readingHeaders } from './response-headers';
import type { Services } from './services';
import { composeStatement, forCaller } from './statement';
import type { BodyWriter, RequestPlan, RunRequest } from './types';

/** The body of an export, part by part. */
class ExportBody {
  #head: ResultHead = { columns: [], bytesProcessed: null, bytesBilled: null };
  #form: LineForm = 'json';
  #writer: BodyWriter | null = null;
  /** Makes a file of the rows; null: they are the body. */
  #encoder: Encoder | null = null;
  #rows = 0;

  constructor(
    private readonly plan: Pick<
      RequestPlan,
      | 'endpoint'
      | 'fenced'
      | 'redacted'
      | 'representation'
      | 'asParquet'
      | 'unknown'
      | 'parameters'
      | 'moving'
      | 'misreadings'
    >,
    private readonly request: Pick<RunRequest, 'beginBody'>,
    private readonly services: Pick<Services, 'threads' | 'escapeFormulas' | 'exportFile' | 'openEncoder'>,
    private readonly limits: RunLimits,
  ) {}

  /** How rows are best written for it: addresses are looked for in their JSON, of which files are made too. */
  get lines(): LineForm {
    const { redacted, representation, asParquet } = this.plan;
    if (redacted || asParquet || representation !== 'text/csv') return 'json';
    return this.services.escapeFormulas ? 'escaped csv' : 'csv';
  }

  /** @param head what is known of the result before its rows */
  begin(head: ResultHead, form: LineForm): void {
    this.#head = head;
    this.#form = form;
    const { asParquet, redacted } = this.plan;
    // Once: a query that is run again, as its process died before the first row, has the same columns.
    if (!asParquet || this.#encoder !== null) return;
    const columns = (redacted ? redactedNames(head.columns) : head.columns).map(columnOf);
    this.#encoder = this.services.openEncoder(columns, (bytes) => this.#begun().write(bytes));
  }

  /** Resolves when the client takes more. @throws as BodyWriter.write, Threads.run and Encoder.write */
  async write(lines: Uint8Array, count: number): Promise<void> {
    const bytes = await this.#encode(lines, this.#rows === 0);
    this.#rows += count;
    if (this.#encoder === null) await this.#begun().write(bytes);
    else await this.#encoder.write(bytes);
  }

  /** Sends a file that the engine writes by itself: resolves when the client has all of it. @throws as sendWrittenFile */
  async sendWritten(write: (path: string, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.limits;
    const file = this.services.exportFile();
    const take = (bytes: Uint8Array): Promise<void> => this.#begun().write(bytes);
    const send = async (): Promise<void> => {
      await sendWrittenFile(file, (ending) => write(file.path, AbortSignal.any([signal, ending])), take);
      await this.#begun().end(Buffer.alloc(0));
    };
    await raceLimits(this.limits, send, () => undefined);
  }

  /** All rows have come: resolves when the client has what they make. @throws as write */
  async end(): Promise<void> {
    if (this.#encoder !== null) {
      await this.#encoder.end();
      await this.#begun().end(Buffer.alloc(0));
      return;
    }
    if (this.#writer === null) await this.write(Buffer.alloc(0), 0);
    const { representation } = this.plan;
    await this.#begun().end(Buffer.from(closingOfExport(representation, this.#rows)));
  }

  /** Nothing more is done for it. */
  close(): void {
    this.#encoder?.kill();
  }

  #encode(lines: Uint8Array, first: boolean): Promise<Uint8Array> | Uint8Array {
    const { redacted, representation } = this.plan;
    const { escapeFormulas, threads } = this.services;
    const columns = this.#head.columns.map(({ name }) => name);
    if (this.lines !== 'json' && this.#form === this.lines) {
      return first ? Buffer.concat([Buffer.from(csvHeader(columns, escapeFormulas)), lines]) : lines;
    }
    // NDJSON is the lines as they are; what takes values apart goes to a thread.
    if (!redacted && representation !== 'text/csv') return lines;
    return threads.run(renderLines, { columns, lines, representation, escapeFormulas, first, redacted }, this.limits);
  }

  #begun(): BodyWriter {
    const { endpoint, fenced, representation, asParquet } = this.plan;
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    this.#writer ??= this.request.beginBody({
      contentType: asParquet ? PARQUET : CONTENT_TYPES[representation],
      compressible: !asParquet,
      fileName: `${endpoint.name}-${time}.${FILE_EXTENSIONS[asParquet ? PARQUET : representation]}`,
      headers: [...NOT_STORED, ...(fenced ? [] : costHeaders(this.#head)), ...readingHeaders(this.plan)],
    });
    return this.#writer;
  }
}

/** No cache looks at an export, and none keeps one (RFC 9211, 2.2). */
const NOT_STORED = ['Cache-Control', 'private, no-store', 'Cache-Status', 'logquay; fwd=bypass'];

/**
 * Runs a plan and sends its rows as they come. Until the first of them a failure is answered as any other; a later one breaks
 * the connection, so that nobody takes a part for the whole.
 *
 * @throws ServiceError as `execute`, `resourcesExceeded` for more rows than the endpoint exports, and as `authorise` as soon as the key
 *   may not export it any more
 */
export async function exportRows(plan: RequestPlan, key: Key, request: RunRequest, services: Services): Promise<void> {
  const watch = watchRights(plan, key, request, services);
  try {
    await sendRows(plan, { request, signal: watch.signal }, services);
  } catch (error) {
    throw watch.lost() ?? error;
  } finally {
    watch.stop();
  }
}

/** Looks again and again whether the key may still export the endpoint: `signal` is aborted when it may not, or the client has left. */
function watchRights(
  { endpoint, redacted }: Pick<RequestPlan, 'endpoint' | 'redacted'>,
  before: Key,
  request: RunRequest,
  { keys, catalogue }: Pick<Services, 'keys' | 'catalogue'>,
): { readonly signal: AbortSignal; readonly lost: () => unknown; readonly stop: () => void } {
  const abort = new AbortController();
  let key = before;
  let lost: unknown = null;
  const timer = setInterval(() => {
    try {
      // A token may expire meanwhile: the export has a deadline of its own.
      key = currentKey((of) => keys.authenticate((name) => request.header(name), { key: of, inTime: false }), key);
      const now = allowedEndpoint(catalogue.find(endpoint.id), key);
      checkMayExport(key, now);
      if (now.redactPii && !redacted) throw new ServiceError('accessDenied', 'The endpoint redacts its rows now.');
    } catch (error) {
      lost = error;
      abort.abort();
      clearInterval(timer);
    }
  }, LOOK_AGAIN);
  return {
    signal: AbortSignal.any([request.signal, abort.signal]),
    lost: () => lost,
    stop: () => clearInterval(timer),
  };
}

async function sendRows(
  plan: RequestPlan,
  { request, signal }: { readonly request: RunRequest; readonly signal: AbortSignal },
  services: Services,
): Promise<void> {
  const { endpoint, fenced, asParquet, payer, redacted } = plan;
  const { admission, defaults, engine, exportSlots } = services;
  // Until it has its slots it waits no longer than another run.
  const waiting = { ...limitsOf(plan, request, services).limits, signal, keyName: payer };
  const deadline = request.arrived + defaults.exportTimeout;
  request.expectUntil(deadline);
  const limits = { ...waiting, deadline };

  const maxRows = endpoint.exportRows;
  const statement = await request.timed('gate', () => composeStatement(plan, services, waiting));
  const query = engineQuery(plan, statement, services);
  const body = new ExportBody(plan, request, services, limits);
  // A file that the engine writes shows by its row groups how rows of others lie between those of a key with pins.
  const isCopied = asParquet && !redacted && !fenced && engine.copy !== undefined;
  if (asParquet && !isCopied) checkParquet();
  let rows = 0;
  const read = async (): Promise<void> => {
    const truncated = await engine.stream(
      { ...query, maxRows, sorted: fenced && !statement.ordered, lines: body.lines },
      limits,
      {
        begin: (head, form) => {
          if (head.bytesBilled !== null) request.record({ billed: head.bytesBilled });
          body.begin(head, form);
        },
        take: (lines, count) => {
          rows += count;
          return body.write(lines, count);
        },
      },
    );
    request.record({ rows });
    if (truncated) throw tooManyRows(maxRows);
    await raceLimits(
      limits,
      () => body.end(),
      () => undefined,
    );
  };
  const copy = async (path: string, signal: AbortSignal): Promise<void> => {
    rows = await engine.copy!(query, path, { ...limits, signal });
    request.record({ rows });
    if (rows > maxRows) throw tooManyRows(maxRows);
  };
  const send = isCopied ? (): Promise<void> => body.sendWritten(copy) : read;
  const timed = (): Promise<void> => request.timed('engine', () => send().catch(forCaller(statement)));
  try {
    await request.timed('queue', () =>
      exportSlots.use(payer, waiting, () => admission.use(laneOf(payer), waiting, timed)),
    );
  } finally {
    body.close();
  }
}

/** Exports of a key beside its other runs: those go on while it reads one. Of a user they are beside the runs of all its issuer's. */
export function laneOf(payer: string): string {
  return payer.replace(/^[^/]*/, '$& export');
}

function tooManyRows(maxRows: number): ServiceError {
  return new ServiceError(
    'resourcesExceeded',
    `The result has more rows than the endpoint exports: ${String(maxRows)}.`,
    {
      hint: 'Export a shorter time range at a time, or set a LIMIT.',
    },
  );
}
