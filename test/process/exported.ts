import { once } from 'node:events';
import http, { type IncomingMessage, type RequestOptions } from 'node:http';

export interface Exported {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Whether all of it came. */
  readonly complete: boolean;
}

/** Sends a request on a connection of its own; the body is not read yet. */
export async function begin(options: RequestOptions): Promise<IncomingMessage> {
  const request = http.request({ ...options, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Both report a connection that is broken; `complete` says so too.
  for (const one of [request, response]) one.on('error', () => undefined);
  return response;
}

/** Reads what comes, to its end or that of the connection. */
export async function received(response: IncomingMessage): Promise<Exported> {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A broken connection has an error before its end.
  await new Promise((resolve) => response.once('close', resolve));
  const { statusCode: status = 0, headers, complete } = response;
  return { status, headers, body: Buffer.concat(chunks), complete };
}

/** Of an error. */
export const reasonOf = ({ body }: Pick<Exported, 'body'>): unknown =>
  (JSON.parse(body.toString()) as { error: { errors: { reason: string }[] } }).error.errors[0]?.reason;
