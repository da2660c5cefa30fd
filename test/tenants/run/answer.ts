/** Answers of the service, and in what two of them differ. */
import type { TenantRequest } from '../requests/request';
import { ERRORS } from '../../../src/errors';
import {
  EXECUTION_FAULTS,
  SEVERAL_CAN_FAIL,
  UNKNOWN_EXECUTION_FAULT,
} from '../../../packages/duckdb-engine/src/contract/execution-faults';
import type { Services } from './services';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Of an error; else empty. */
  readonly reason: string;
  /** Token of the next page, of which the body keeps the length alone; null: there is none. */
  readonly next: string | null;
}

/** Status of an answer that was cut off: how much of it had come is time. */
const CUT_OFF = 599;
/** Pages behind the first that are asked for. */
const MOST_PAGES = 3;

let sent = 0;

/** Headers that may differ: identifiers and time. */
const EXEMPT = new Set(['x-request-id', 'date', 'age', 'server-timing', 'ratelimit', 'ratelimit-policy']);

/** Sends a request to one of the services; a second one is sent where the request says so, and both are answers. */
export async function answersOf(request: TenantRequest, services: Services, which: 0 | 1): Promise<Answer[]> {
  const foreign = services.foreignOf(request);
  // Another tenant asks the same at the same time: it shares neither a result nor a run.
  const beside = foreign === null ? null : send(request, services, which, {}, foreign);
  const first = await send(request, services, which, {});
  await beside;
  if (request.again === 'no') return [first];
  if (request.again === 'pages') return [first, ...(await pagesBehind(first, request, services, which))];
  const etag = first.headers.get('etag');
  const conditional: Record<string, string> =
    request.again === 'conditional' && etag !== undefined ? { 'If-None-Match': etag } : {};
  return [first, await send(request, services, which, conditional)];
}

async function pagesBehind(first: Answer, request: TenantRequest, services: Services, which: 0 | 1): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let { next } = first; next !== null && pages.length < MOST_PAGES;) {
    const parameters = { ...request.parameters, page_token: next };
    const page = await send({ ...request, parameters }, services, which, {});
    pages.push(page);
    ({ next } = page);
  }
  return pages;
}

async function send(
  request: TenantRequest,
  services: Services,
  which: 0 | 1,
  more: Readonly<Record<string, string>>,
  secret = services.secretOf(request),
): Promise<Answer> {
  const { bases, reasonOf } = services;
  const { method, path, parameters, headers, tool } = request;
  const posted = method === 'POST';
  const sending = {
    'Accept-Encoding': 'identity',
    ...(tool === null ? headers : { Accept: 'application/json, text/event-stream' }),
    ...more,
    'X-API-KEY': secret,
    // One for both services where the answer has it; one of its own where it is looked up in the log.
    'X-Request-Id': method === 'HEAD' ? `head-${String(++sent).padStart(8, '0')}` : 'same',
  };
  const target = tool === null ? `${path}${posted ? '' : queryOf(parameters)}` : '/mcp';
  const response = await fetch(`${bases[which]}${target}`, {
    method,
    headers: posted ? { ...sending, 'Content-Type': 'application/json' } : sending,
    ...(posted ? { body: JSON.stringify(tool === null ? parameters : toolCall(request)) } : {}),
  });
  const { status } = response;
  const answerHeaders = new Map(response.headers);
  let text: string;
  try {
    text = await response.text();
  } catch {
    return { status: CUT_OFF, headers: answerHeaders, body: '', reason: '', next: null };
  }
  if (tool !== null && status === 200) return answerOfTool(text, answerHeaders);
  const next = NEXT.exec(text)?.[1] ?? null;
  const body = text.replace(NEXT, (_all, token: string) => `"next_page_token":${String(token.length)}`);
  const reason =
    method === 'HEAD' && status >= 400 ? await reasonOf(which, sending['X-Request-Id']) : errorOf(body).reason;
  return { status, headers: answerHeaders, body, reason, next };
}

const NEXT = /"next_page_token":"([^"]*)"/;

/** The message that has a tool do what the request says. */
function toolCall({ tool, path, parameters: { sql, lql, ...parameters } }: TenantRequest): object {
  const endpoint = path.slice(path.lastIndexOf('/') + 1);
  const query = sql !== undefined ? { sql } : lql !== undefined ? { lql } : {};
  const more = tool === 'analyze' ? {} : { max_rows: 1000 };
  const call = { name: tool, arguments: { endpoint, parameters, ...query, ...more } };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
}

interface ToolMessage {
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
}

/** What a tool gave, with the status that a request would have had. */
function answerOfTool(text: string, headers: Answer['headers']): Answer {
  // One message, as JSON or as the only event of a stream.
  const message = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as ToolMessage;
  const body = message.result?.content[0]?.text ?? text;
  if (message.result?.isError === true) return answerOfError(null, headers, body);
  return { status: 200, headers, body, reason: '', next: null };
}

/** @param status null: that of a request that the error of the body answers */
export function answerOfError(status: number | null, headers: Answer['headers'], body: string): Answer {
  const { reason } = errorOf(body);
  return { status: status ?? (isReason(reason) ? ERRORS[reason].http : 500), headers, body, reason, next: null };
}

function isReason(reason: string): reason is keyof typeof ERRORS {
  return Object.hasOwn(ERRORS, reason);
}

function queryOf(parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? '' : `?${query}`;
}

/** `refused`: by the gate or as a request; `failed`: while the query ran; `limit`: of time or memory, like anything. */
export type Outcome = 'rows' | 'no rows' | 'failed' | 'refused' | 'limit' | 'other';

const RUN_TIME = new Set<string>([...Object.values(EXECUTION_FAULTS), UNKNOWN_EXECUTION_FAULT, SEVERAL_CAN_FAIL]);

export function outcomeOf({ status, body, reason }: Answer): Outcome {
  if (status === 200 || status === 304) return rowsOf(body).length > 0 ? 'rows' : 'no rows';
  const { message } = errorOf(body);
  if (status === 504 || reason === 'resourcesExceeded') return 'limit';
  // A process that a busy machine keeps from its messages is replaced, and its key's queries are refused for a while: time, too.
  if (reason === 'tooManyConcurrentQueries') return 'limit';
  if (status === 400 && reason === 'invalidQuery' && RUN_TIME.has(message)) return 'failed';
  return status < 500 ? 'refused' : 'other';
}

export function errorOf(body: string): { reason: string; message: string } {
  try {
    const { error } = JSON.parse(body) as {
      error: { message: string; reason?: string; errors?: { reason: string }[] };
    };
    // Errors of tools and of live tails have their reason beside the message.
    return { reason: error.reason ?? error.errors?.[0]?.reason ?? '', message: error.message };
  } catch {
    return { reason: '', message: '' };
  }
}

/** What of a pair of answers differs: `status`, `error`, `rows`, `order`, or the name of a header. */
export type Aspect = string;

/**
 * In what two answers differ; null: in nothing.
 */
export function difference(request: TenantRequest, a: Answer, b: Answer): Aspect | null {
  if (outcomeOf(a) === 'limit' || outcomeOf(b) === 'limit') return null;
  if (a.status !== b.status) return 'status';
  const sameBody = a.body === b.body;
  // Which rows a limit of the endpoint keeps is open where nothing orders them.
  const cut = isTruncated(a) && isTruncated(b) && !request.ordered;
  if (!sameBody) {
    if (a.status !== 200) return 'error';
    if (!cut && multiset(a.body) !== multiset(b.body)) return 'rows';
    if (request.ordered) return 'order';
  }
  // The token is sealed anew each time, and is part of what the tag is made from.
  const sealed = a.next !== null && b.next !== null;
  // Without a body the tag alone has the order.
  const bodiless = request.method === 'HEAD' || a.status === 304;
  const orderOpen = !request.ordered && (!sameBody || bodiless);
  for (const name of new Set([...a.headers.keys(), ...b.headers.keys()])) {
    if (EXEMPT.has(name) || (sealed && name === 'etag')) continue;
    if (orderOpen && (name === 'etag' || (name === 'content-length' && (cut || packed(a))))) continue;
    if (timeless(a.headers.get(name)) !== timeless(b.headers.get(name))) return name;
  }
  return null;
}

/** A tool says so in its answer. */
function isTruncated({ headers, body }: Answer): boolean {
  return headers.has('x-result-truncated') || /"rowCount":\d+,"truncated":true,/.test(body);
}

function packed({ headers }: Answer): boolean {
  return headers.has('content-encoding');
}

/** Seconds left of a lifetime are time, and so are whether another request was in flight and when a file was made. */
function timeless(value: string | undefined): string | undefined {
  return value
    ?.replace(/\b(ttl|max-age)=\d+/g, '$1=n')
    .replace('; collapsed', '')
    .replace(/-\d{8}T\d{6}Z\b/, '');
}

/** The rows as texts, in order. */
export function rowsOf(body: string): string[] {
  if (body.startsWith('{"result":[')) return splitRows(body.slice('{"result":['.length, body.lastIndexOf(']')));
  return body.split(/\r?\n/).filter((line) => line !== '');
}

/** Elements of a JSON list, by the commas outside of brackets and strings. */
function splitRows(list: string): string[] {
  const rows: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < list.length; i++) {
    const character = list[i];
    if (character === '"') i = endOfString(list, i);
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === ',' && depth === 0) {
      rows.push(list.slice(start, i));
      start = i + 1;
    }
  }
  if (start < list.length) rows.push(list.slice(start));
  return rows;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

function multiset(body: string): string {
  return rowsOf(body).sort().join('\n');
}
