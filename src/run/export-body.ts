import type { ResultHead, RunLimits } from '../engines/contract';
import type { Encoder } from '../rendering/columnar/encoder';
import { columnOf } from '../rendering/columnar/column-type';
import { closingOfExport } from '../rendering/render';
import { CONTENT_TYPES, FILE_EXTENSIONS } from '../rendering/representation';
import { redactedNames } from './redacted-names';
import { renderRows } from './render-rows';
import { costHeaders, readingHeaders } from './response-headers';
import type { Services } from './services';
import type { BodyWriter, RequestPlan, RunRequest } from './types';

/** The body of an export, part by part. */
export class ExportBody {
  #head: ResultHead = { columns: [], bytesProcessed: null, bytesBilled: null };
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
      | 'fileForm'
      | 'unknown'
      | 'parameters'
      | 'moving'
      | 'misreadings'
    >,
    private readonly request: Pick<RunRequest, 'beginBody'>,
    private readonly services: Pick<Services, 'threads' | 'escapeFormulas' | 'openEncoder'>,
    private readonly limits: RunLimits,
  ) {}

  /** @param head what is known of the result before its rows */
  begin(head: ResultHead): void {
    this.#head = head;
    const { fileForm, redacted } = this.plan;
    // Once: a query that is run again, as its process died before the first row, has the same columns.
    if (fileForm === null || this.#encoder !== null) return;
    const columns = (redacted ? redactedNames(head.columns) : head.columns).map(columnOf);
    this.#encoder = this.services.openEncoder(fileForm, columns, (bytes) => this.#begun().write(bytes));
  }

  /** Resolves when the client takes more. @throws as BodyWriter.write, Threads.run and Encoder.write */
  async write(rows: readonly string[]): Promise<void> {
    const bytes = await this.#encode(rows, this.#rows === 0);
    this.#rows += rows.length;
    if (this.#encoder === null) await this.#begun().write(bytes);
    else await this.#encoder.write(bytes);
  }

  /** All rows have come: resolves when what they make is on its way. @throws as write */
  async end(): Promise<void> {
    if (this.#encoder !== null) {
      await this.#encoder.end();
      this.#begun().end(Buffer.alloc(0));
      return;
    }
    if (this.#writer === null) await this.write([]);
    const { representation } = this.plan;
    this.#begun().end(Buffer.from(closingOfExport(representation, this.#rows)));
  }

  /** Nothing more is done for it. */
  close(): void {
    this.#encoder?.kill();
  }

  #encode(rows: readonly string[], first: boolean): Promise<Uint8Array> | Uint8Array {
    const { redacted, representation } = this.plan;
    const { escapeFormulas, threads } = this.services;
    const columns = this.#head.columns.map(({ name }) => name);
    const part = { columns, rows, representation, escapeFormulas, first, redacted };
    // NDJSON is the rows as they are; what takes values apart goes to a thread.
    if (!redacted && representation !== 'text/csv') return renderRows.run(part);
    return threads.run(renderRows, part, this.limits);
  }

  #begun(): BodyWriter {
    const { endpoint, fenced, representation, fileForm } = this.plan;
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    this.#writer ??= this.request.beginBody({
      contentType: fileForm ?? CONTENT_TYPES[representation],
      compressible: fileForm !== 'application/vnd.apache.parquet',
      fileName: `${endpoint.name}-${time}.${FILE_EXTENSIONS[fileForm ?? representation]}`,
      headers: [...NOT_STORED, ...(fenced ? [] : costHeaders(this.#head)), ...readingHeaders(this.plan)],
    });
    return this.#writer;
  }
}

/** No cache looks at an export, and none keeps one (RFC 9211, 2.2). */
const NOT_STORED = ['Cache-Control', 'private, no-store', 'Cache-Status', 'logquay; fwd=bypass'];
