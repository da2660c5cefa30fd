import { once } from 'node:events';
import http, { type IncomingMessage, type RequestOptions } from 'node:http';

/** An event as it came; a row has no name. */
export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  readonly retry: number | null;
}

/** A client of `text/event-stream`, as browsers have one, that sends headers. */
export class EventClient {
  readonly events: ReceivedEvent[] = [];
  /** Of the last event that had one. */
  lastId: string;
  readonly closed: Promise<void>;
  #rest = '';

  private constructor(
    readonly response: IncomingMessage,
    lastId: string,
  ) {
    this.lastId = lastId;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('error', () => undefined);
    this.closed = new Promise((resolve) => response.once('close', resolve));
  }

  /** @param lastId of the connection before; empty: none */
  static async open(
    port: number,
    path: string,
    query: Readonly<Record<string, string>>,
    { key, lastId = '', accept = 'text/event-stream' }: { key: string; lastId?: string; accept?: string },
  ): Promise<EventClient> {
    const headers = { 'X-API-KEY': key, Accept: accept, ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) };
    return EventClient.opened({ port, path: `${path}?${new URLSearchParams(query).toString()}`, headers }, lastId);
  }

  static async opened(options: RequestOptions, lastId = ''): Promise<EventClient> {
    const request = http.request({ ...options, agent: false });
    request.on('error', () => undefined);
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new EventClient(response, lastId);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The rows that have come, as they are written. */
  get rows(): string[] {
    return this.events.filter(({ name, data }) => name === '' && data !== '').map(({ data }) => data);
  }

  get end(): ReceivedEvent | undefined {
    return this.events.find(({ name }) => name === 'end');
  }

  /** All that came where that is no stream of events. */
  get text(): string {
    return this.#rest;
  }

  leave(): void {
    this.response.destroy();
  }

  #read(text: string): void {
    this.#rest += text;
    if (this.status !== 200) return;
    for (let at = this.#rest.indexOf('\n\n'); at !== -1; at = this.#rest.indexOf('\n\n')) {
      const block = this.#rest.slice(0, at);
      this.#rest = this.#rest.slice(at + 2);
      const fields = block.split('\n').map((line) => line.split(/: (.*)/s, 2));
      const valueOf = (field: string): string => fields.find(([name]) => name === field)?.[1] ?? '';
      const id = valueOf('id');
      if (id !== '') this.lastId = id;
      const retry = valueOf('retry');
      this.events.push({
        id,
        name: valueOf('event'),
        data: valueOf('data'),
        retry: retry === '' ? null : Number(retry),
      });
    }
  }
}
