/**
 * A thousand rows with a nested record each, distinct requests, one core for the server: requests a second, against ROAPI (PyPI
 * `roapi`; `ROAPI` is the path of its program, unless it is on the path), or where there is none against DuckDB's own scan with
 * `to_json` in this process.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

import { median } from './measure';
import { API_KEY, firstAnswer, freePort, startService } from './service';

const ROWS = 1000;
const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 4;
const GOAL = 1;

const QUERY = 'SELECT timestamp, id, event_message, metadata FROM raw_logs WHERE id <>';

const ENDPOINT = `/*
id: 6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c14
name: bench.records
description: Whole records.
max_rows: ${ROWS}
params:
  left_out: { type: string, required: true, description: A row that is left out. }
*/
${QUERY} @left_out
`;

const text = (name: string, type = 'STRING'): object => ({ name, type });
const list = (name: string, ...fields: object[]): object => ({ name, type: 'RECORD', mode: 'REPEATED', fields });
const ORIGIN = list('origin', text('host'), text('ms', 'INT64'), text('region'));
const METADATA = list(
  'metadata',
  ...['method', 'path', 'agent', 'ip'].map((name) => text(name)),
  ...[text('status', 'INT64'), text('bytes', 'INT64'), text('cached', 'BOOL'), ORIGIN],
);
const FIELDS = [text('timestamp', 'TIMESTAMP'), text('id'), text('event_message'), METADATA];

function row(i: number): object {
  const path = `/rest/v1/items/${i}`;
  const ip = `10.0.0.${i % 250}`;
  const origin = [{ host: 'db.example.com', ms: i % 90, region: 'eu-central-1' }];
  const agent = 'Mozilla/5.0 (X11; Linux x86_64)';
  return {
    timestamp: new Date(Date.UTC(2026, 8, 30, 11) + i * 1000).toISOString(),
    id: `r${String(i).padStart(4, '0')}`,
    event_message: `GET | 200 | ${ip} | ${path}`,
    metadata: [{ method: 'GET', path, agent, ip, status: 200 + (i % 5), bytes: i * 37, cached: i % 2 === 0, origin }],
  };
}

/** Something that answers requests, each of them another. */
interface Side {
  readonly name: string;
  /** The answer to request `i`, in bytes. */
  readonly ask: (i: number) => Promise<number>;
  stop(): Promise<void> | void;
}

export async function wholeRecords(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const sides: Side[] = [];
  try {
    const data = join(folder, 'data');
    mkdirSync(data);
    const rows = Array.from({ length: ROWS }, (_, i) => `${JSON.stringify(row(i))}\n`);
    writeFileSync(join(data, 'raw_logs.ndjson'), rows.join(''));
    writeFileSync(join(data, 'schema.json'), JSON.stringify({ raw_logs: { fields: FIELDS } }));
    const program = process.env['ROAPI'] ?? onPath('roapi');
    if (program === null) print(`  ROAPI is not installed (pip install roapi): against DuckDB's own scan`);
    sides.push(await logquay(folder, data));
    sides.push(program === null ? await ownScan(data) : await roapi(program, data));
    const [ours, theirs] = sides as [Side, Side];
    const rates: [number[], number[]] = [[], []];
    for (const side of sides) await rate(side);
    for (let round = 0; round < ROUNDS; round++)
      for (const [k, side] of sides.entries()) rates[k]!.push(await rate(side));
    const [own, other] = [median(rates[0]), median(rates[1])];
    const ratio = own / other;
    print(
      `  ${ROWS} whole records: ${own.toFixed(0)} requests a second, ${theirs.name} ${other.toFixed(0)}, ${ratio.toFixed(2)}x ` +
        `(${ratio >= GOAL ? 'within' : 'MISSES'} goal of ${GOAL}x); ${await ours.ask(0)} bytes, ${theirs.name} ${await theirs.ask(0)}`,
    );
  } finally {
    for (const side of sides) await side.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function onPath(name: string): string | null {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  return places.find((place) => existsSync(place)) ?? null;
}

let next = 0;

/** Requests a second. */
async function rate({ ask }: Side): Promise<number> {
  const [start, until] = [performance.now(), performance.now() + SECONDS * 1000];
  let count = 0;
  const client = async (): Promise<void> => {
    for (; performance.now() < until; count++) await ask(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return count / ((performance.now() - start) / 1000);
}

/** Keeps a process, and what it starts, to the first core: this one has the others. */
function pin(pid: number): void {
  execFileSync('taskset', ['-acp', '0', String(pid)], { stdio: 'ignore' });
}

async function logquay(folder: string, data: string): Promise<Side> {
  const queries = join(folder, 'queries');
  mkdirSync(queries);
  writeFileSync(join(queries, 'bench.records.sql'), ENDPOINT);
  const log = openSync(join(folder, 'log'), 'w');
  const settings = { QUERIES_DIR: queries, DATA_DIR: data, CACHE_DIR: join(folder, 'cache'), RATE_LIMIT: '0' };
  const service = await startService(settings, log);
  pin(service.pid);
  const path = '/api/endpoints/query/bench.records?left_out=';
  await firstAnswer(service, `${path}x`);
  const agent = new http.Agent({ keepAlive: true });
  return {
    name: 'Logquay',
    ask: (i) => answer(`${service.origin}${path}x${i}`, { agent, headers: { 'X-API-KEY': API_KEY } }, null),
    async stop() {
      agent.destroy();
      await service.stop();
      closeSync(log);
    },
  };
}

async function roapi(program: string, data: string): Promise<Side> {
  const port = await freePort();
  const table = `raw_logs=${join(data, 'raw_logs.ndjson')}`;
  const others = ['-p', `127.0.0.1:${await freePort()}`, '--addr-flight-sql', `127.0.0.1:${await freePort()}`];
  const child = spawn(program, ['-a', `127.0.0.1:${port}`, ...others, '-t', table], { stdio: 'ignore' });
  await once(child, 'spawn');
  pin(child.pid!);
  const agent = new http.Agent({ keepAlive: true });
  const ask = (i: number): Promise<number> =>
    answer(`http://127.0.0.1:${port}/api/sql`, { agent, method: 'POST' }, `${QUERY} 'x${i}'`);
  for (let tries = 0; ; tries++) {
    const bytes = await ask(0).catch(() => 0);
    if (bytes > 0) break;
    if (tries > 100) throw new Error('ROAPI does not answer.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name: 'ROAPI',
    ask,
    async stop() {
      agent.destroy();
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** DuckDB alone, in this process, on one thread. */
async function ownScan(data: string): Promise<Side> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE raw_logs AS SELECT * FROM read_ndjson('${join(data, 'raw_logs.ndjson')}')`);
  const scan = await connection.prepare(`SELECT to_json(r)::VARCHAR FROM (${QUERY} $1) AS r`);
  return {
    name: "DuckDB's own scan",
    async ask(i) {
      scan.bind([`x${i}`]);
      const reader = await scan.runAndReadAll();
      return (reader.getColumns()[0] as string[]).reduce((sum, one) => sum + one.length, 0);
    },
    stop() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** The bytes of a 200. */
function answer(url: string, options: http.RequestOptions, body: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`${url}: ${response.statusCode}`));
      });
    });
    request.on('error', reject);
    request.end(body ?? undefined);
  });
}
