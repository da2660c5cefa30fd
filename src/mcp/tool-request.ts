import type { RawEntry } from '../endpoints/raw-entries';
import { ServiceError } from '../errors';
import type { BodyWriter, RunRequest } from '../run/types';
import type { RequestTelemetry } from '../telemetry';
import type { Caller } from './caller';

/** A call of a tool as a request to an endpoint: it passes what any request does. */
export class ToolRequest implements RunRequest {
  readonly id: string;
  readonly query = null;
  /** Each message is, whatever it asks for. */
  readonly counted = true;
  readonly arrived = performance.now();

  /** @param given parameters, the reserved ones among them */
  constructor(
    private readonly caller: Caller,
    readonly idOrName: string,
    private readonly given: readonly RawEntry[],
  ) {
    this.id = caller.id;
  }

  get signal(): AbortSignal {
    return this.caller.signal;
  }

  header(name: string): readonly string[] {
    return name === 'accept' ? ['application/x-ndjson'] : this.caller.header(name);
  }

  parameters(): Promise<readonly RawEntry[]> {
    return Promise.resolve(this.given);
  }

  timed<T>(phase: string, step: () => Promise<T> | T): Promise<T> {
    return this.caller.timed(phase, step);
  }

  record(attributes: RequestTelemetry): void {
    this.caller.record(attributes);
  }

  expectUntil(deadline: number): void {
    this.caller.expectUntil(deadline);
  }

  setHeaders(headers: readonly string[]): void {
    this.caller.setHeaders(headers);
  }

  beginBody(): BodyWriter {
    throw new ServiceError('invalidParameter', 'Exports are not for tools: they are larger than a model can read.', {
      parameter: 'export',
    });
  }
}
