/** Clients that do not read, do not send, or leave, and what beside them has to go on. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Random } from '../sandbox/fuzz/random';
import { type Offence } from './suite';
import type { HostileRequest, Target } from './target';

/** Keys of their own, so that what one does is none of the others' affair. */
export const CLIENT_KEYS = {
  deaf: { export: true },
  mute: { ingest: true },
  wide: { ingest: true },
  gone: { export: true },
  ordinary: {},
};
export type ClientKey = keyof typeof CLIENT_KEYS;

/** An endpoint with rows of any size, which may be exported. */
export const CLIENT_ENDPOINT = `/*
id: 55555555-aaaa-4000-8000-0000000000ff
name: hostile.rows
max_rows: 1000
export: 10000000
sandbox: true
params:
  project: { type: string, required: true, description: Names the request. }
*/
WITH t AS (SELECT n FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n WHERE @project != '')
SELECT n, ${Array.from({ length: 8 }, (_, i) => `REPEAT('mail ana@example.com from 10.20.30.40 ', 40) AS x${i}`).join(', ')} FROM t`;

const RUN = '/api/endpoints/query/hostile.rows';
const COLLECT = '/api/logs?source_name=postgres.logs';

/** Megabytes of an answer are more than the system takes for a connection. */
const FORMS: Readonly<
  Record<string, (n: number) => { readonly target: string; readonly headers?: string; readonly times?: number }>
> = {
  JSON: (n) => ({ target: `${RUN}?project=p${n}` }),
  'JSON that is kept': () => ({ target: `${RUN}?project=kept` }),
  CSV: (n) => ({ target: `${RUN}?project=p${n}`, headers: 'Accept: text/csv\r\n' }),
  NDJSON: (n) => ({ target: `${RUN}?project=p${n}`, headers: 'Accept: application/x-ndjson\r\n' }),
  gzip: (n) => ({ target: `${RUN}?project=p${n}`, headers: 'Accept-Encoding: gzip\r\n' }),
  'JSON, masked': (n) => ({ target: `${RUN}?project=p${n}`, headers: 'LF-ENDPOINT-REDACT-PII: true\r\n' }),
  export: (n) => ({
    target: `${RUN}?project=p${n}&export=true&sql=${encodeURIComponent('SELECT a.n, REPEAT("x", 200) AS y FROM t AS a CROSS JOIN t AS b')}`,
    headers: 'Accept: application/x-ndjson\r\n',
  }),
  'many on one connection': (n) => ({ target: `${RUN}?project=p${n}`, times: 20 }),
  'documents on one connection': () => ({ target: '/openapi.json', times: 700 }),
  'probes on one connection': () => ({ target: '/health', times: 1500 }),
  'a live tail': () => ({ target: '/api/endpoints/tail/logs.all?project=default&history=true&lql=f%3Aedge_logs' }),
};

const head = (method: string, target: string, key: ClientKey, more = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${key}\r\n${more}\r\n`;

const declared = (bytes: number): string => `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n`;

/** One client: what it sends at once, and what it does then. */
export interface Client {
  readonly name: string;
  readonly key: ClientKey;
  readonly sends: string;
  /** Sent once a second. */
  readonly drips?: string;
  /** Milliseconds after which it leaves; without, it stays. */
  readonly leaves?: number;
  /** Whether the service has to end its connection, where it has not taken all that it was sent or not sent all that it said. */
  readonly isCutOff: boolean;
}

/** Does not read what it is sent. */
export function deaf(random: Random, n: number): Client {
  const [name, form] = random.pick(Object.entries(FORMS));
  const { target, headers, times = 1 } = form(n);
  return {
    name: `reads nothing: ${name}`,
    key: 'deaf',
    sends: head('GET', target, 'deaf', headers).repeat(times),
    isCutOff: !name.includes('tail'),
  };
}

/** Does not send what it has announced, or hardly. */
export function mute(random: Random): Client {
  const bytes = random.pick([1, 1000, 100_000, 4_000_000]);
  const [name, sends] = random.pick([
    ['half a head', head('POST', COLLECT, 'mute').slice(0, -4)],
    ['a part of a batch', head('POST', COLLECT, 'mute', declared(5_000_000)) + '['.padEnd(bytes)],
    ['a part of a body', head('POST', RUN, 'deaf', declared(250_000)) + '{'.padEnd(Math.min(bytes, 240_000))],
    [
      'chunks of a byte',
      head('POST', COLLECT, 'mute', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n') +
        '1\r\n \r\n'.repeat(Math.min(bytes, 100_000)),
    ],
  ] as const);
  return {
    name: `sends ${name}`,
    key: 'mute',
    sends,
    isCutOff: true,
    ...(name === 'half a head' ? {} : { drips: name === 'chunks of a byte' ? '1\r\n \r\n' : ' ' }),
  };
}

/** Leaves in the middle of anything. */
export function gone(random: Random, n: number): Client {
  const client = random.pick([deaf, mute])(random, n);
  const leaves = random.pick([0, 5, 50, 500, 3000]);
  return {
    ...client,
    name: `${client.name}, and leaves`,
    key: 'gone',
    sends: client.sends.replaceAll('X-API-KEY: deaf', 'X-API-KEY: gone'),
    leaves,
    isCutOff: false,
  };
}

/** Rows that are wide, or have fields that nobody knows. */
export function wide(random: Random, n: number): HostileRequest {
  const elements = random.pick([200, 2_000, 40_000, 370_000]);
  const fields = random.pick([1_000, 6_000, 100_000]);
  const list = `{"message":"w","metadata":{"list${n % 7}":[${'1,'.repeat(elements - 1)}1]}}`;
  const named = `{"message":"w",${Array.from({ length: fields }, (_, i) => `"f${n}_${i}":1`).join()}}`;
  const [name, body] = random.pick([
    [`a list of ${elements}`, list],
    [`${fields} new fields`, named],
  ] as const);
  return {
    name,
    method: 'POST',
    path: '/api/logs?source_name=wide',
    headers: ['X-API-KEY', 'wide', 'Content-Type', 'application/json'],
    body: `[${body}]`,
  };
}

/** A client at work. */
export class OpenClient {
  readonly #socket: Socket;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(
    readonly client: Client,
    port: number,
  ) {
    const socket = connect(port, '127.0.0.1');
    this.#socket = socket.pause();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const timer of this.#timers) clearInterval(timer);
    });
    socket.write(client.sends);
    const { drips, leaves } = client;
    if (drips !== undefined) this.#timers.push(setInterval(() => socket.write(drips), 1000));
    if (leaves !== undefined) this.#timers.push(setTimeout(() => socket.destroy(), leaves));
  }

  /** Its end of the connection. */
  get port(): number | undefined {
    return this.#socket.localPort;
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/**
 * Bytes that the system holds for clients of a server, by their ports; -1: the connection is open, and there are none. A client that does
 * not read does not hear of its end.
 */
function connectedTo(server: number): Map<number, number> {
  const lines = ['tcp', 'tcp6'].flatMap((one) => readFileSync(`/proc/net/${one}`, 'utf8').split('\n').slice(1));
  const port = (address = ''): number => parseInt(address.split(':')[1] ?? '', 16);
  const found = new Map<number, number>();
  for (const [, local, remote, state, queues = ''] of lines.map((line) => line.trim().split(/\s+/))) {
    if (state === '01' && port(local) === server) found.set(port(remote), parseInt(queues, 16) || -1);
  }
  return found;
}

/** What an ordinary key was answered meanwhile. */
export class Ordinary {
  readonly milliseconds: number[] = [];
  readonly offences: Offence[] = [];
  #on = true;
  readonly #done: Promise<void>;

  constructor(target: Target) {
    this.#done = this.#ask(target);
  }

  async stop(): Promise<void> {
    this.#on = false;
    await this.#done;
  }

  /** Of the latencies. */
  percentile(part: number): number {
    const sorted = this.milliseconds.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  }

  /** Five times a second. */
  async #ask(target: Target): Promise<void> {
    const pending: Promise<void>[] = [];
    for (let i = 0; this.#on; i++) {
      pending.push(this.#once(target, i));
      await sleep(200);
    }
    await Promise.all(pending);
  }

  async #once(target: Target, i: number): Promise<void> {
    const began = performance.now();
    const path = `/api/endpoints/query/logs.all?project=p${i}`;
    const { status, text } = await target.send({
      name: '',
      method: 'GET',
      path,
      headers: ['X-API-KEY', 'ordinary'],
      body: null,
    });
    this.milliseconds.push(performance.now() - began);
    if (status !== 200)
      this.offences.push({ name: 'an ordinary request', what: `answered with ${status} ${text.slice(0, 300)}` });
  }
}

/** Whether those are gone that had to be cut off; what is not, if anything. */
export async function cutOff({ port }: Target, clients: readonly OpenClient[], within: number): Promise<Offence[]> {
  const end = performance.now() + within;
  const left = (): OpenClient[] => {
    const connected = connectedTo(port);
    // What was answered in short may ask again on its connection.
    return clients.filter(({ client, port: own = 0 }) => {
      const unread = connected.get(own);
      return unread !== undefined && (client.key === 'mute' || unread > 0) && client.isCutOff;
    });
  };
  while (left().length > 0 && performance.now() < end) await sleep(500);
  return left().map(({ client }) => ({ name: client.name, what: `is still connected after ${within / 1000} s` }));
}
