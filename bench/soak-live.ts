/** What goes on beside the requests of the soak: rows that are appended, live tails that follow them, and exports. */
import { setMaxListeners } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { DuckDBInstance } from '@duckdb/node-api';

import { LOG_SCHEMA } from '../src/engines/log-schema';
import { AUTH } from '../src/engines/duckdb/samples/services';
import { EDGE } from '../src/engines/duckdb/samples/edge';
import { POSTGRES } from '../src/engines/duckdb/samples/postgres';
import { sampleRows } from '../src/engines/duckdb/samples/sample-table';

import { API_KEY } from './service';

/** Rows of each table at the start. */
const ROWS = 20_000;
/** Of these the newest are those that more are made like. */
const TEMPLATES = 1_000;
/** Milliseconds between two appends, and the rows of one. */
const APPEND_EVERY = 200;
const APPENDED = 20;
const ROTATE_EVERY = 60_000;
const EXPORT_EVERY = 3_000;
/** Listeners to the endpoint that nobody changes, and to `logs.all`, which ends their streams at each change. */
const LISTENERS = { steady: 10, changing: 10 };
/** Milliseconds for the last rows to arrive at the listeners. */
const PATIENCE = 60_000;

const BENEATH = '/api/endpoints';
const ENDPOINTS = {
  'soak.tail': { id: '6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c31', settings: '', columns: 'id, timestamp, event_message' },
  'soak.export': { id: '6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c32', settings: 'export: 10000000\n', columns: '*' },
} as const;

export interface SoakData {
  readonly folder: string;
  /** Lines that were generated, to append more of. */
  readonly templates: readonly Readonly<Record<string, unknown>>[];
}

/** Generates rows of the last week, and writes endpoints that follow and export them. */
export async function soakData(folder: string, queries: string): Promise<SoakData> {
  mkdirSync(join(folder, EDGE.name), { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  for (const table of [EDGE, POSTGRES, AUTH]) {
    const rows = sampleRows({ ...table, rows: ROWS }, LOG_SCHEMA.get(table.name) ?? [], 'now()::TIMESTAMP');
    await connection.run(`COPY (${rows}) TO '${join(folder, `${table.name}.ndjson`)}' (FORMAT json)`);
  }
  instance.closeSync();
  for (const [name, { id, settings, columns }] of Object.entries(ENDPOINTS)) {
    const head = `/*\nid: ${id}\nname: ${name}\n${settings}*/\n`;
    writeFileSync(join(queries, `${name}.sql`), `${head}SELECT ${columns} FROM raw_edge_logs\n`);
  }
  // A table is a file or a folder: of the edge logs more files are to come.
  const before = join(folder, EDGE.name, 'before.ndjson');
  renameSync(join(folder, `${EDGE.name}.ndjson`), before);
  const lines = readFileSync(before, 'utf8').trim().split('\n').slice(-TEMPLATES);
  return { folder, templates: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** What was done beside the requests, and what of it was not as it should be. */
export class SoakLive {
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #faults = new Map<string, number>();
  readonly #done = { rotations: 0, exports: 0, turnedAway: 0, tailsTurnedAway: 0, exported: 0, ends: 0 };
  #appended = 0;
  /** Rows with an id of ours that each steady listener has seen: how many, and how often one that it had seen before. */
  readonly #seen = Array.from({ length: LISTENERS.steady }, () => new Set<string>());
  #doubled = 0;

  constructor(
    private readonly origin: string,
    private readonly data: SoakData,
  ) {}

  /** Ends some time after `signal`: when every row that was appended has been seen, or too much time has passed. */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    setMaxListeners(2 * (LISTENERS.steady + LISTENERS.changing), over.signal);
    const listeners = [
      ...this.#seen.map((seen) => this.#listen('soak.tail', over.signal, seen)),
      ...Array.from({ length: LISTENERS.changing }, () => this.#listen('logs.all', over.signal, null)),
    ];
    await Promise.all([this.#append(signal), this.#export(signal)]);
    const incomplete = (): boolean => this.#seen.some(({ size }) => size < this.#appended);
    for (let waited = 0; waited < PATIENCE && incomplete(); waited += 100) await sleep(100);
    if (!(await this.#countedRight())) this.#fail('rows of the folder that a query does not find once');
    over.abort();
    await Promise.all(listeners);
    this.#agent.destroy();
    const missing = this.#seen.reduce((sum, { size }) => sum + this.#appended - size, 0);
    if (missing > 0) this.#fail('rows that a live tail has not given', missing);
    if (this.#doubled > 0) this.#fail('rows that a live tail has given twice', this.#doubled);
  }

  lines(): string[] {
    const { rotations, exports, turnedAway, tailsTurnedAway, exported, ends } = this.#done;
    const faults = [...this.#faults].map(([what, count]) => `${what} ${String(count)}x`).join(', ');
    return [
      `  ${String(this.#appended)} rows appended, their file rotated ${String(rotations)} times; ${String(LISTENERS.steady)} tails with every row, ` +
        `${String(LISTENERS.changing)} of an endpoint that changes, which ended ${String(ends)} times; turned away or ended ${String(tailsTurnedAway)} times while the queue was full`,
      `  ${String(exports)} exports, ${(exported / 2 ** 20).toFixed(0)} MiB; ${String(turnedAway)} turned away with 429`,
      `  rows lost or doubled, exports or tails that failed: ${faults === '' ? 'none (within goal of none)' : `${faults} (MISSES goal of none)`}`,
    ];
  }

  #fail(what: string, times = 1): void {
    this.#faults.set(what, (this.#faults.get(what) ?? 0) + times);
  }

  async #append(signal: AbortSignal): Promise<void> {
    const file = join(this.data.folder, EDGE.name, 'app.ndjson');
    let rotated = performance.now();
    while (!signal.aborted) {
      const lines = Array.from({ length: APPENDED }, (_, i) => this.#line(this.#appended + i));
      appendFileSync(file, lines.join(''));
      this.#appended += APPENDED;
      await sleep(APPEND_EVERY);
      if (performance.now() - rotated < ROTATE_EVERY) continue;
      rotated = performance.now();
      renameSync(file, `${file}.${String(++this.#done.rotations)}`);
    }
  }

  #line(n: number): string {
    const { templates } = this.data;
    const row = { ...templates[n % templates.length], id: `soak-${String(n)}`, timestamp: new Date().toISOString() };
    return `${JSON.stringify(row)}\n`;
  }

  /** One export after the other, in one form and then in the other; each has to be whole. */
  async #export(signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      const parquet = n % 2 === 1;
      const accept = parquet ? 'application/vnd.apache.parquet' : 'application/x-ndjson';
      const headers = { Accept: accept, ...(parquet ? {} : { 'Accept-Encoding': 'gzip' }) };
      const fault = await this.#exportOnce(headers, parquet).catch((error: unknown) => String(error));
      if (fault !== null) this.#fail(`export: ${fault}`);
      await sleep(EXPORT_EVERY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** null: whole, or turned away. */
  async #exportOnce(headers: Readonly<Record<string, string>>, parquet: boolean): Promise<string | null> {
    const response = await this.#get('/query/soak.export?export=true', headers);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    if (response.statusCode === 429) {
      this.#done.turnedAway++;
      return null;
    }
    if (response.statusCode !== 200) return String(response.statusCode);
    const body = Buffer.concat(parts);
    this.#done.exports++;
    this.#done.exported += body.length;
    if (parquet) return body.toString('latin1', body.length - 4) === 'PAR1' ? null : 'no footer';
    const lines = gunzipSync(body).toString('utf8').trimEnd().split('\n');
    return lines.at(-1) === `{"$rows":${String(lines.length - 1)}}` ? null : 'no last line';
  }

  /** Follows an endpoint, and comes again as the rules have it. */
  async #listen(name: string, signal: AbortSignal, seen: Set<string> | null): Promise<void> {
    let place: string | null = null;
    let settled = false;
    while (!signal.aborted) {
      const headers: Record<string, string> = place === null ? {} : { 'Last-Event-ID': place };
      try {
        const response = await this.#get(`/tail/${name}${seen === null ? '?project=default' : ''}`, headers, signal);
        if (response.statusCode !== 200) {
          let body = '';
          response.setEncoding('utf8');
          for await (const text of response as AsyncIterable<string>) body += text;
          const reason = /"reason":"(\w+)"/.exec(body)?.[1] ?? '';
          // A place of an endpoint that was changed is refused, and whoever comes while the queue is full: with the same place later.
          if (reason === 'tooManyConcurrentQueries') this.#done.tailsTurnedAway++;
          else {
            if (seen !== null || response.statusCode !== 400)
              this.#fail(`tail: ${String(response.statusCode)} ${reason}`);
            place = null;
          }
          await sleep(500);
          continue;
        }
        settled = true;
        let rest = '';
        response.setEncoding('utf8');
        for await (const text of response as AsyncIterable<string>) {
          const events = (rest + text).split('\n\n');
          rest = events.pop() ?? '';
          for (const event of events) {
            const id = /^id: (.*)$/m.exec(event)?.[1];
            if (id !== undefined) place = id;
            if (/^event: end$/m.test(event)) this.#ended(event, seen !== null);
            const row = /^data: (\{.*)$/m.exec(event)?.[1];
            if (row !== undefined && seen !== null && !/^event:/m.test(event)) this.#take(row, seen);
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if (settled) this.#fail(`tail: ${String(error)}`);
        await sleep(100);
      }
    }
  }

  #ended(event: string, steady: boolean): void {
    this.#done.ends++;
    const cause = /"cause":"(\w+)"/.exec(event)?.[1] ?? '';
    const reason = /"reason":"(\w+)"/.exec(event)?.[1] ?? '';
    if (reason === 'tooManyConcurrentQueries') this.#done.tailsTurnedAway++;
    else if (steady || cause !== 'endpoint_changed') this.#fail(`tail ended: ${cause} ${reason}`.trimEnd());
  }

  #take(row: string, seen: Set<string>): void {
    const { id } = JSON.parse(row) as { id: string };
    if (!id.startsWith('soak-')) return;
    if (seen.has(id)) this.#doubled++;
    seen.add(id);
  }

  /** Whether a query finds every row that was appended, once, soon after the last of them. */
  async #countedRight(): Promise<boolean> {
    const sql = `SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM edge_logs WHERE STARTS_WITH(id, 'soak-')`;
    for (let waited = 0; waited < PATIENCE; waited += 1_000) {
      const path = `/query/logs.all?project=${this.#project()}&sql=${encodeURIComponent(sql)}`;
      const response = await this.#get(path, {});
      let body = '';
      for await (const part of response) body += String(part);
      const rows = this.#appendedOfProject();
      if (body.includes(`"n":${String(rows)},"ids":${String(rows)}`)) return true;
      await sleep(1_000);
    }
    return false;
  }

  #project(): string {
    return String(this.data.templates[0]?.['project']);
  }

  /** Rows that the query of one project can find. */
  #appendedOfProject(): number {
    const { templates } = this.data;
    const of = (n: number): boolean => templates[n % templates.length]?.['project'] === this.#project();
    return Array.from({ length: this.#appended }, (_, n) => n).filter(of).length;
  }

  #get(path: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = {
        agent: this.#agent,
        headers: { 'X-API-KEY': API_KEY, ...headers },
        ...(signal === undefined ? {} : { signal }),
      };
      http.get(`${this.origin}${BENEATH}${path}`, options, resolve).on('error', reject);
    });
  }
}
