/** Every form in which the service runs an endpoint, each as a function from one request to what came of it (docs/querying.md). */
import http from 'node:http';

import { EventClient } from '../process/event-client';
import { type Exported, received } from '../process/exported';
import { rowsOfParquet } from '../process/columnar-files';
import { until } from '../until';

export type Json = string | number | boolean | null | readonly Json[];

/** Parameters in order; a name may come twice. */
export type Pairs = readonly (readonly [name: string, value: Json])[];

/** A request, whatever form it takes. */
export interface Ask {
  /** The secret. */
  readonly key: string;
  readonly endpoint?: string;
  readonly parameters?: Pairs;
  /** Of a query of the caller's own; without, that of the form. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Told {
  /** null: an answer of MCP, where all have 200. */
  readonly status: number | null;
  /** The error, or the first fault of an analysis; null: there is none. */
  readonly error: Fault | null;
  /** Each as `id event_message`, in the order in which they came; null: the form gives none, or there is an error. */
  readonly rows: readonly string[] | null;
  /** All that came, headers too. */
  readonly bytes: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Whether there are more rows than these. */
  readonly truncated: boolean;
}

export interface Fault {
  readonly reason: string;
  readonly parameter?: string;
  readonly line?: number;
  readonly column?: number;
}

export interface Site {
  readonly port: number;
  /** For files of a test. */
  readonly folder: string;
}

export interface Form {
  /** Whose query runs. */
  readonly of: 'stored' | 'sql' | 'lql';
  readonly gives: 'rows' | 'analysis';
  /** Requests that count against a rate; more than one: all but the last are made ready. */
  readonly requests: number;
  /** Parameters that it has beside those of the request. */
  readonly own: number;
  /** An answer of which the cache keeps a copy. */
  readonly kept: boolean;
  ask(site: Site, ask: Ask): Promise<Told>;
}

interface Line {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Addresses of this machine, so that refused keys do not count together. */
let addresses = 0;
const nextAddress = (): string => `127.1.${String((addresses >> 8) & 255)}.${String(addresses++ & 255)}`;

export async function send({ port }: Pick<Site, 'port'>, { method, path, headers, body }: Line): Promise<Exported> {
  const request = http.request({ port, method, path, headers, localAddress: nextAddress(), agent: false });
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  request.end(body);
  return received(await response);
}

const search = (pairs: Pairs): string =>
  new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString();

/** As text: members may come twice. */
const members = (pairs: Pairs): string =>
  `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

const TEXTS = { stored: null, sql: 'SELECT id, event_message FROM events', lql: 'f:events' } as const;

/** The parameters of a request with those of its form. */
function pairsOf(of: Form['of'], { parameters = [], text }: Ask, more: Pairs = []): Pairs {
  const own = TEXTS[of] === null ? [] : [[of, text ?? TEXTS[of]] as const];
  return [...parameters, ...own, ...more];
}

function faultOf(body: string): Fault {
  const { error } = JSON.parse(body) as { error: { errors: [Fault] } };
  return error.errors[0];
}

type Row = Readonly<Record<string, unknown>>;
const plain = ({ id, event_message }: Row): string => `${String(id)} ${String(event_message)}`;

const READERS = {
  'application/json': (body: string) => (JSON.parse(body) as { result: Row[] }).result.map(plain),
  'application/x-ndjson': (body: string) =>
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{"$rows"'))
      .map((line) => plain(JSON.parse(line) as Row)),
  'text/csv': (body: string) => {
    const [head = '', ...lines] = body.split('\r\n').filter((line) => line !== '');
    const names = head.split(',');
    return lines.map((line) => plain(Object.fromEntries(line.split(',').map((value, i) => [names[i], value]))));
  },
} as const;

const PARQUET = 'application/vnd.apache.parquet';

async function toldBy({ status, headers, body, complete }: Exported, site: Site): Promise<Told> {
  const text = body.toString('latin1');
  const bytes = `${JSON.stringify(headers)}\n${text}`;
  const truncated = headers['x-result-truncated'] === 'true' || text.includes('"next_page_token"');
  const told = { status, headers, bytes, truncated };
  if (status >= 400) return { ...told, error: faultOf(text), rows: null };
  if (!complete) return { ...told, error: { reason: 'broken off' }, rows: null };
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (type === PARQUET)
    return { ...told, error: null, rows: ((await rowsOfParquet(body, site.folder)) as Row[]).map(plain) };
  return { ...told, error: null, rows: READERS[type as keyof typeof READERS](body.toString()) };
}

interface Run {
  readonly of?: Form['of'];
  readonly accept?: keyof typeof READERS | typeof PARQUET;
  readonly path?: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: 'json' | 'form';
  readonly more?: Pairs;
  readonly kept?: boolean;
}

/** A request to the run path. */
function run({
  of = 'stored',
  accept = 'application/json',
  path = '/api/endpoints/query',
  body,
  more = [],
  kept = true,
}: Run): Form {
  return {
    of,
    gives: 'rows',
    requests: 1,
    own: more.length + (of === 'stored' ? 0 : 1),
    kept,
    async ask(site, ask) {
      const pairs = pairsOf(of, ask, more);
      const { key, endpoint = 'forms.rows', headers = {} } = ask;
      const own = { 'X-API-KEY': key, Accept: accept, ...headers };
      const at = `${path}/${endpoint}`;
      const line: Line =
        body === undefined
          ? { method: 'GET', path: `${at}?${search(pairs)}`, headers: own }
          : body === 'json'
            ? {
                method: 'POST',
                path: at,
                headers: { 'Content-Type': 'application/json', ...own },
                body: members(pairs),
              }
            : {
                method: 'POST',
                path: at,
                headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...own },
                body: search(pairs),
              };
      return toldBy(await send(site, line), site);
    },
  };
}

/** A page, its size that of the endpoint's `max_rows` but for the one that a test names. */
const PAGE = run({ more: [], kept: false });

async function firstPage(site: Site, { parameters = [], ...ask }: Ask, size: string, token?: string): Promise<Told> {
  const named = parameters.some(([name]) => name === 'page_size');
  const paging: Pairs = [
    ...(named ? [] : [['page_size', size] as const]),
    ...(token === undefined ? [] : [['page_token', token] as const]),
  ];
  return PAGE.ask(site, { ...ask, parameters: [...parameters, ...paging] });
}

/** The rows of all pages but the first are those of the last request; the first page has one row. */
async function followingPage(site: Site, ask: Ask): Promise<Told> {
  const first = await firstPage(site, ask, '1');
  const token = /"next_page_token":"([^"]+)"/.exec(first.bytes)?.[1];
  if (first.error !== null || token === undefined) return first;
  const next = await firstPage(site, ask, '4', token);
  return next.rows === null
    ? next
    : { ...next, rows: [...(first.rows ?? []), ...next.rows], bytes: first.bytes + next.bytes };
}

/** The rows that there are, as events. */
async function history(of: Form['of'], site: Site, ask: Ask): Promise<Told> {
  const path = `/api/endpoints/tail/${ask.endpoint ?? 'forms.rows'}?${search(pairsOf(of, ask, [['history', 'true']]))}`;
  const headers = { 'X-API-KEY': ask.key, Accept: 'text/event-stream', ...ask.headers };
  const client = await EventClient.opened({ port: site.port, path, headers, localAddress: nextAddress() });
  if (client.status !== 200) {
    await client.closed;
    const bytes = `${JSON.stringify(client.response.headers)}\n${client.text}`;
    const told = { status: client.status, headers: client.response.headers, bytes, truncated: false };
    return { ...told, error: faultOf(client.text), rows: null };
  }
  // The last of the rows that there are has a place, and so has the first event where there are none.
  await until(() => client.lastId !== '');
  client.leave();
  const rows = client.rows.map((row) => plain(JSON.parse(row) as Row));
  const bytes = JSON.stringify([client.response.headers, client.events]);
  return { status: 200, headers: client.response.headers, bytes, truncated: false, error: null, rows };
}

/** What a tool answers, as JSON. */
async function call(
  site: Site,
  { key, headers = {} }: Ask,
  name: string,
  given: string,
): Promise<Exported & { readonly text: string; readonly failed: boolean }> {
  const answer = await send(site, {
    method: 'POST',
    path: '/mcp',
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${given}}}`,
  });
  const message = JSON.parse(answer.body.toString()) as {
    readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
  };
  return { ...answer, text: message.result?.content[0]?.text ?? '', failed: message.result?.isError === true };
}

/** A tool that gives rows. @param argumentsOf JSON text of its arguments */
function tool(of: Form['of'], nameOf: (ask: Ask) => string, argumentsOf: (ask: Ask) => string): Form {
  return {
    of,
    gives: 'rows',
    requests: 1,
    own: 0,
    kept: false,
    async ask(site, ask) {
      const { headers, body, status, text, failed } = await call(site, ask, nameOf(ask), argumentsOf(ask));
      const told = { headers, bytes: `${JSON.stringify(headers)}\n${body.toString()}`, truncated: false };
      // The key itself is refused before the protocol.
      if (status >= 400) return { ...told, status, error: faultOf(body.toString()), rows: null };
      const read = JSON.parse(text) as { error: Fault; columns: string[]; rows: unknown[][]; truncated: boolean };
      if (failed) return { ...told, status: null, error: read.error, rows: null };
      const rows = read.rows.map((row) => plain(Object.fromEntries(row.map((value, i) => [read.columns[i], value]))));
      return { ...told, status: null, error: null, rows, truncated: read.truncated };
    },
  };
}

/** Arguments of a tool that is for all endpoints, the parameters as the JSON text that models write, where members may come twice. */
function common(of: Form['of']) {
  return ({ endpoint = 'forms.rows', parameters = [], text }: Ask): string =>
    JSON.stringify({
      endpoint,
      parameters: members(parameters),
      ...(TEXTS[of] === null ? {} : { [of]: text ?? TEXTS[of] }),
    });
}

function analysis(of: Form['of'], ask: Form['ask']): Form {
  return { of, gives: 'analysis', requests: 1, own: of === 'stored' ? 0 : 1, kept: false, ask };
}

interface Analysed {
  readonly result: { readonly errors: readonly Fault[] };
}

/** `POST /api/endpoints/analyze/…` */
function analyze(of: Form['of']): Form {
  return analysis(of, async (site, ask) => {
    const { key, endpoint = 'forms.rows', headers = {} } = ask;
    const answer = await send(site, {
      method: 'POST',
      path: `/api/endpoints/analyze/${endpoint}`,
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/json', ...headers },
      body: members(pairsOf(of, ask)),
    });
    const text = answer.body.toString();
    const told = { status: answer.status, headers: answer.headers, rows: null, truncated: false };
    const bytes = `${JSON.stringify(answer.headers)}\n${text}`;
    const error = answer.status === 200 ? ((JSON.parse(text) as Analysed).result.errors[0] ?? null) : faultOf(text);
    return { ...told, bytes, error };
  });
}

export const FORMS = {
  'a GET': run({}),
  'a POST of JSON': run({ body: 'json' }),
  'a POST of a form': run({ body: 'form' }),
  'the path of older clients': run({ path: '/endpoints/query' }),
  'the path by name': run({ path: '/api/endpoints/query/name' }),
  CSV: run({ accept: 'text/csv' }),
  NDJSON: run({ accept: 'application/x-ndjson' }),
  SQL: run({ of: 'sql' }),
  'SQL in a body': run({ of: 'sql', body: 'json' }),
  LQL: run({ of: 'lql', body: 'json' }),
  'a first page': { ...PAGE, own: 1, ask: (site, ask) => firstPage(site, ask, '4') },
  'a following page': { ...PAGE, requests: 2, own: 2, ask: followingPage },
  'an export of NDJSON': run({ accept: 'application/x-ndjson', more: [['export', 'true']], kept: false }),
  'an export of CSV': run({ accept: 'text/csv', more: [['export', 'true']], kept: false }),
  'an export of Parquet': run({ accept: PARQUET, more: [['export', 'true']], kept: false }),
  'an export of SQL': run({ of: 'sql', accept: 'application/x-ndjson', more: [['export', 'true']], kept: false }),
  'a tail': { ...PAGE, own: 1, ask: (site, ask) => history('stored', site, ask) },
  'a tail of SQL': { ...PAGE, of: 'sql', own: 2, ask: (site, ask) => history('sql', site, ask) },
  'a tail of LQL': { ...PAGE, of: 'lql', own: 2, ask: (site, ask) => history('lql', site, ask) },
  'the tool run_endpoint': tool('stored', () => 'run_endpoint', common('stored')),
  'the tool query_logs with SQL': tool('sql', () => 'query_logs', common('sql')),
  'the tool query_logs with LQL': tool('lql', () => 'query_logs', common('lql')),
  'a tool of its own': tool(
    'stored',
    ({ endpoint = 'forms.rows' }) => `endpoint_${endpoint.replaceAll('.', '_')}`,
    ({ parameters = [] }) => members(parameters),
  ),
  'an analysis': analyze('stored'),
  'an analysis of SQL': analyze('sql'),
  'an analysis of LQL': analyze('lql'),
} as const satisfies Readonly<Record<string, Form>>;

export type FormName = keyof typeof FORMS;

/** The forms for which a condition holds. */
export function those(holds: (form: Form, name: FormName) => boolean): FormName[] {
  return (Object.keys(FORMS) as FormName[]).filter((name) => holds(FORMS[name], name));
}
