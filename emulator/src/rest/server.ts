import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { BigQueryError, invalid } from '../query/error';
import { apiRoutes, type Context } from './api';
import { answerControl } from './control';
import { delivery } from './delivery';
import { parseBody, readBytes } from './body';
import { type SeenRequest } from './log';
import { errorAsResult } from './queries';
import { type ApiReply, type Routes } from './routes';
import { isGoccy } from './shape';

/** The HTTP server over a context. Listens on loopback alone, unless told otherwise. */
export class RestServer {
  private readonly server: Server;
  private readonly routes: Routes;

  constructor(private readonly context: Context) {
    this.routes = apiRoutes(context);
    this.server = createServer((request, response) => {
      void this.answer(request, response).catch(() => response.destroy());
    });
    // Long polls and injected delays are the point of it.
    this.server.requestTimeout = 0;
    this.server.keepAliveTimeout = 60_000;
  }

  /** Resolves with the port once it listens; 0 takes a free one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  /** Cuts every connection and ends. */
  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://local');
    const method = request.method ?? 'GET';
    const isUpload = url.pathname.startsWith('/upload/');
    let raw: Buffer = Buffer.alloc(0);
    const body = await readBytes(request)
      .then((bytes) => {
        if (!isUpload) return parseBody(bytes);
        raw = bytes;
        return {};
      })
      .catch((error: unknown) => error as BigQueryError);
    if (url.pathname === '/_control') {
      const bad = body instanceof Error ? body : null;
      delivery(
        response,
        bad === null ? answerControl(this.context, request, body as Record<string, unknown>) : errorReply(bad),
        null,
      );
      return;
    }
    const route = this.routes.find(method, url.pathname);
    const seen: SeenRequest = {
      method,
      path: url.pathname,
      operation: route?.operation ?? 'other',
      query: Object.fromEntries(url.searchParams),
      body: body instanceof Error ? {} : shown(body),
      authorized: request.headers.authorization !== undefined,
      at: Date.now(),
      status: null,
      aborted: false,
    };
    this.context.log.add(seen);
    response.once('close', () => {
      seen.aborted = !response.writableFinished;
      if (response.writableFinished) seen.status = response.statusCode;
    });
    const fault = this.context.faults.forRequest(seen.operation, url.searchParams);
    // These strike before the request is looked at; the others spoil its answer.
    if (fault !== null && ['error', 'html', 'empty', 'hang', 'reset'].includes(fault.kind)) {
      delivery(response, { status: fault.status, json: null }, fault);
      return;
    }
    let reply: ApiReply;
    try {
      if (body instanceof Error) throw body;
      if (route === null) throw new BigQueryError('notFound', `The local BigQuery has no ${method} ${url.pathname}`);
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
      );
      const origin = `http://${request.headers.host ?? 'localhost'}`;
      reply = await route.handler({ method, path: route.path, query: url.searchParams, body, raw, headers, origin });
    } catch (error) {
      reply = this.failed(error, seen);
    }
    delivery(response, reply, fault);
  }

  private failed(error: unknown, { operation }: SeenRequest): ApiReply {
    const { shape } = this.context;
    const known =
      error instanceof BigQueryError
        ? error
        : new BigQueryError('internalError', `The local BigQuery failed: ${String(error)}`);
    const ofQuery = operation === 'query' || operation === 'results';
    if (ofQuery && shape.name === 'ok-errors') return errorAsResult(known);
    if (isGoccy(shape) && (ofQuery || operation === 'insertJob')) return goccysError(known);
    return errorReply(known);
  }
}

function errorReply(error: Error): ApiReply {
  const known = error instanceof BigQueryError ? error : invalid(error.message);
  return { status: known.code, json: known.body };
}

/** goccy's emulator knows one reason for whatever is wrong with a query, and no domain. */
function goccysError({ message }: BigQueryError): ApiReply {
  const entry = { reason: 'jobInternalError', location: '', debugInfo: '', message };
  return { status: 400, json: { error: { errors: [entry], code: 400, message } } };
}

function shown(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(body['rows'])) return body;
  return { ...body, rows: body['rows'].length };
}
