import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A value of OTLP in JSON (opentelemetry-proto, common/v1): 64-bit integers may be texts. */
interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
}

interface KeyValues {
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
}

/** A span of OTLP in JSON (opentelemetry-proto, trace/v1), as far as it is looked at. */
interface RawSpan extends KeyValues {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly flags: number;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: KeyValues;
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

type Plain = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span that arrived, its times in nanoseconds since 1970. */
export interface Arrived extends Omit<RawSpan, 'attributes' | 'startTimeUnixNano' | 'endTimeUnixNano'> {
  readonly attributes: Plain;
  readonly resource: Plain;
  readonly began: bigint;
  readonly ended: bigint;
}

function plain({ attributes }: KeyValues): Plain {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue)),
    ]),
  );
}

/** A collector that takes OTLP over HTTP, as a test wants it: it takes, refuses, or never answers. */
export class Collector {
  behaviour: 'take' | 'refuse' | 'hang' = 'take';
  /** Calls that arrived whole, whatever became of them. */
  calls = 0;
  /** The headers of the last of them. */
  headers: IncomingHttpHeaders = {};
  readonly spans: Arrived[] = [];
  /** All that arrived, as it was sent. */
  sent = '';

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response));
  }

  static async listen(port = 0): Promise<Collector> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** Waits for spans. @throws Error when they do not come */
  async arrived(count: number, within = 15_000): Promise<readonly Arrived[]> {
    const end = performance.now() + within;
    while (this.spans.length < count) {
      if (performance.now() > end) throw new Error(`Of ${String(count)} spans there are ${String(this.spans.length)}.`);
      await sleep(10);
    }
    return this.spans;
  }

  /** Waits for calls. @throws Error when they do not come */
  async called(count: number, within = 15_000): Promise<void> {
    const end = performance.now() + within;
    while (this.calls < count) {
      if (performance.now() > end) throw new Error(`Of ${String(count)} calls there are ${String(this.calls)}.`);
      await sleep(10);
    }
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.calls++;
    this.headers = request.headers;
    if (this.behaviour === 'hang') return;
    const { method, url, headers } = request;
    const known = method === 'POST' && url === '/v1/traces' && headers['content-type'] === 'application/json';
    if (!known || this.behaviour === 'refuse') {
      response.writeHead(known ? 400 : 404).end('The collector has words of its own.');
      return;
    }
    this.sent += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
      for (const { spans } of scopeSpans) {
        for (const { attributes, startTimeUnixNano, endTimeUnixNano, ...span } of spans) {
          const times = { began: BigInt(startTimeUnixNano), ended: BigInt(endTimeUnixNano) };
          this.spans.push({ ...span, ...times, attributes: plain({ attributes }), resource: plain(resource) });
        }
      }
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  }
}
