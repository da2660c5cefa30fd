import type { ResultHead, RunLimits } from '../engines/contract';
import { closingOfExport } from '../rendering/render';
import { CONTENT_TYPES, FILE_EXTENSIONS } from '../rendering/representation';
import { renderRows } from './render-rows';
import { costHeaders, unknownHeader, warningHeader } from './response-headers';
import type { Services } from './services';
import type { BodyWriter, RequestPlan, RunRequest } from './types';

/** The body of an export, part by part. */
export class ExportBody {
  /** What is known of the result before its rows. */
  head: ResultHead = { columns: [], bytesProcessed: null, bytesBilled: null };
  #writer: BodyWriter | null = null;
  #rows = 0;

  constructor(
    private readonly plan: Pick<
      RequestPlan,
      'endpoint' | 'fenced' | 'redacted' | 'representation' | 'unknown' | 'misreadings'
    >,
    private readonly request: Pick<RunRequest, 'beginBody'>,
    private readonly services: Pick<Services, 'threads' | 'escapeFormulas'>,
    private readonly limits: RunLimits,
  ) {}

  /** Resolves when the client takes more. @throws as BodyWriter.write and Threads.run */
  async write(rows: readonly string[]): Promise<void> {
    const bytes = await this.#encode(rows, this.#writer === null);
    this.#rows += rows.length;
    await this.#begun().write(bytes);
  }

  /** All rows have come. */
  async end(): Promise<void> {
    if (this.#writer === null) await this.write([]);
    const { representation } = this.plan;
    this.#begun().end(Buffer.from(closingOfExport(representation, this.#rows)));
  }

  #encode(rows: readonly string[], first: boolean): Promise<Uint8Array> | Uint8Array {
    const { redacted, representation } = this.plan;
    const { escapeFormulas, threads } = this.services;
    const columns = this.head.columns.map(({ name }) => name);
    const part = { columns, rows, representation, escapeFormulas, first, redacted };
    // NDJSON is the rows as they are; what takes values apart goes to a thread.
    if (!redacted && representation !== 'text/csv') return renderRows.run(part);
    return threads.run(renderRows, part, this.limits);
  }

  #begun(): BodyWriter {
    const { endpoint, fenced, representation, unknown, misreadings } = this.plan;
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    this.#writer ??= this.request.beginBody({
      contentType: CONTENT_TYPES[representation],
      fileName: `${endpoint.name}-${time}.${FILE_EXTENSIONS[representation]}`,
      headers: [
        ...NOT_STORED,
        ...(fenced ? [] : costHeaders(this.head)),
        ...unknownHeader(unknown),
        ...warningHeader(misreadings),
      ],
    });
    return this.#writer;
  }
}

/** No cache looks at an export, and none keeps one (RFC 9211, 2.2). */
const NOT_STORED = ['Cache-Control', 'private, no-store', 'Cache-Status', 'logquay; fwd=bypass'];
