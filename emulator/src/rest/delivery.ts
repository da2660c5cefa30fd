import { type ServerResponse } from 'node:http';
import { BigQueryError } from '../query/error';
import { type Fault } from './faults';
import { JsonText, type ApiReply } from './routes';

const JSON_TYPE = 'application/json; charset=UTF-8';

/** Sends an answer, or what a fault makes of it. */
export function delivery(response: ServerResponse, reply: ApiReply, fault: Fault | null): void {
  const { status, json } = reply;
  if (response.destroyed) return;
  switch (fault?.kind) {
    case 'hang':
      return;
    case 'reset':
    case 'lost':
      response.socket?.resetAndDestroy();
      return;
    case 'error': {
      const error = new BigQueryError(fault.reason, fault.message, {}, fault.status);
      if (fault.retryAfter !== null) response.setHeader('Retry-After', String(fault.retryAfter));
      send(response, fault.status, JSON.stringify(error.body));
      return;
    }
    case 'html':
      response.writeHead(fault.status, { 'Content-Type': 'text/html' });
      response.end(`<html><title>Error ${fault.status}</title><body>${fault.message}</body></html>`);
      return;
    case 'empty':
      response.writeHead(fault.status).end();
      return;
    case 'slow':
      setTimeout(() => delivery(response, reply, null), fault.delayMs);
      return;
    case 'slowBody':
    case 'resetBody': {
      const bytes = Buffer.from(textOf(json));
      const half = Math.floor(bytes.length / 2);
      response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': bytes.length });
      response.write(bytes.subarray(0, half), () => {
        if (fault.kind === 'resetBody') response.socket?.resetAndDestroy();
        else setTimeout(() => response.end(bytes.subarray(half)), fault.delayMs);
      });
      return;
    }
    case 'brokenJson': {
      const text = textOf(json);
      send(response, status, text.slice(0, Math.floor(text.length / 2)));
      return;
    }
    case 'malformedSchema':
      send(
        response,
        status,
        JSON.stringify(misfit(JSON.parse(textOf(json)) as Record<string, unknown>, fault.message)),
      );
      return;
    default:
      for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
      if (json === null) response.writeHead(status, { 'Content-Length': 0 }).end();
      else send(response, status, textOf(json));
  }
}

function textOf(json: unknown): string {
  return json instanceof JsonText ? json.text : JSON.stringify(json);
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

/** A result whose schema is wrong in one of several ways; the fault's message picks it. */
function misfit(json: Record<string, unknown>, way: string): Record<string, unknown> {
  const { schema, ...rest } = json;
  const fields = ((schema as { fields?: Record<string, unknown>[] } | undefined)?.fields ?? []).map((field) => ({
    ...field,
  }));
  switch (way) {
    case 'missing':
      return rest;
    case 'null fields':
      return { ...rest, schema: { fields: null } };
    case 'unknown type':
      return { ...rest, schema: { fields: fields.map((field) => ({ ...field, type: 'TENSOR' })) } };
    case 'too many fields':
      return { ...rest, schema: { fields: [...fields, { name: 'extra', type: 'STRING', mode: 'NULLABLE' }] } };
    default:
      return { ...rest, schema: { fields: fields.slice(1) } };
  }
}
