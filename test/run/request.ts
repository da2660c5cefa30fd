import type { RawEntry } from '../../src/endpoints/raw-entries';
import type { RunRequest } from '../../src/run/types';
import type { RequestTelemetry } from '../../src/telemetry';

interface Options {
  readonly key?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters come in a body. */
  readonly post?: boolean;
}

/** A request to an endpoint that remembers what a run did to it. */
export class TestRequest implements RunRequest {
  readonly id = 'test';
  readonly query: string | null;
  readonly arrived = performance.now();
  readonly signal = new AbortController().signal;
  readonly telemetry: RequestTelemetry = {};
  readonly phases: string[] = [];
  readonly deadlines: number[] = [];
  responseHeaders: readonly string[] = [];
  /** How often URL and body were read. */
  reads = 0;

  constructor(
    readonly idOrName: string,
    private readonly options: Options = {},
  ) {
    this.query = options.post ? null : new URLSearchParams(options.values).toString();
  }

  header(name: string): readonly string[] {
    const headers: Readonly<Record<string, string>> = {
      'x-api-key': this.options.key ?? 'all',
      ...this.options.headers,
    };
    return [headers[name] ?? []].flat();
  }

  parameters(): Promise<readonly RawEntry[]> {
    this.reads++;
    const entries = Object.entries(this.options.values ?? {});
    return Promise.resolve(entries.map(([name, text]) => ({ name, value: { kind: 'text', text } })));
  }

  async timed<T>(phase: string, step: () => Promise<T> | T): Promise<T> {
    this.phases.push(phase);
    return step();
  }

  record(attributes: RequestTelemetry): void {
    Object.assign(this.telemetry, attributes);
  }

  expectUntil(deadline: number): void {
    this.deadlines.push(deadline);
  }

  setHeaders(headers: readonly string[]): void {
    this.responseHeaders = headers;
  }

  beginBody(): never {
    throw new Error('Exports are tested over HTTP.');
  }
}
