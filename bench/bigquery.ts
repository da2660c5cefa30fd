/** CPU for 1000 nested rows of BigQuery's, against the least that it can cost and against the official client. */
import { BigQuery } from '@google-cloud/bigquery';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThroughClient } from 'google-auth-library';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBigQueryEngine } from '../src/engines/bigquery/engine';
import type { EngineQuery } from '../packages/duckdb-engine/src/contract/contract';
import { median, ms, type Work } from './measure';

const BLOCKS = 7;
const BLOCK_CALLS = 15;
const GOAL = 1.25;
const CONCURRENT = 8;
const CONCURRENT_CALLS = 160;
const SQL = 'SELECT id, timestamp, event_message, metadata FROM edge_logs ORDER BY timestamp DESC LIMIT 1000';

export async function bigquery(print: (line: string) => void): Promise<void> {
  const page = spawn(process.execPath, [join(__dirname, 'bigquery-page.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(page.stdout, 'data')) as [Buffer];
    const [port, bytes] = line.toString().trim().split(' ');
    print(`1000 nested rows, ${(Number(bytes) / 1e6).toFixed(2)} MB of JSON, over loopback from another process`);
    const sides = await openSides(`http://127.0.0.1:${port}`);
    await sides.check();
    await sequential(sides, print);
    await concurrent(sides, print);
    await sides.close();
  } finally {
    page.stdin.end();
  }
}

interface Sides {
  readonly ours: Work;
  readonly baseline: Work;
  readonly client: Work;
  /** That ours and the baseline make the same of the page. */
  check(): Promise<void>;
  close(): Promise<void>;
}

async function openSides(origin: string): Promise<Sides> {
  const silent = (): void => undefined;
  const engine = await openBigQueryEngine({
    projectId: 'bench',
    dataset: 'logs',
    location: 'US',
    emulator: origin,
    credentials: null,
    maxBytesBilled: 10n ** 10n,
    inspectConsumerQueries: false,
    storedQueries: [],
    clock: null,
    log: { info: silent, warn: silent, error: silent },
  });
  const query: EngineQuery = {
    sql: SQL,
    parameters: [],
    maxRows: 1000,
    hideBytes: false,
    maxBytesBilled: null,
    labels: {},
  };
  const never = new AbortController().signal;
  const ours = async (): Promise<readonly string[]> =>
    (await engine.run(query, { deadline: performance.now() + 60_000, signal: never })).rows;
  const baseline = (): Promise<string[]> => leastWork(`${origin}/bigquery/v2/projects/bench/queries`);
  const official = new BigQuery({ projectId: 'bench', apiEndpoint: origin, authClient: new PassThroughClient() });
  const client = async (): Promise<string> =>
    JSON.stringify((await official.query({ query: SQL, maxResults: 1000 }))[0]);
  return {
    ours,
    baseline,
    client,
    async check() {
      const [a, b] = [await ours(), await baseline()];
      if (a.length !== 1000 || a.some((row, i) => row !== b[i])) throw new Error('The two sides make different rows.');
    },
    close: () => engine.close(),
  };
}

/**
 * CPU of this process per call, one call at a time, in blocks that take turns. The garbage of one side is collected
 * before the next begins, and its own falls within its block.
 */
async function sequential({ ours, baseline, client }: Sides, print: (line: string) => void): Promise<void> {
  const times: number[][] = [[], [], []];
  for (let block = -1; block < BLOCKS; block++) {
    for (const [i, work] of [ours, baseline, client].entries()) {
      collectGarbage();
      const used = await cpu(async () => {
        for (let call = 0; call < BLOCK_CALLS; call++) await work();
      });
      // The first block of each warms up.
      if (block >= 0) times[i]?.push(used / BLOCK_CALLS);
    }
  }
  const [mine, least, theirs] = times.map(median) as [number, number, number];
  const ratio = mine / least;
  const verdict = ratio <= GOAL ? 'within' : 'MISSES';
  print(`CPU per call, median of ${BLOCKS} blocks of ${BLOCK_CALLS} calls:`);
  print(`  fetch + JSON.parse + compiled conversion   ${ms(least)}`);
  print(`  this engine                                ${ms(mine)}  ${ratio.toFixed(2)}x  (${verdict} goal ${GOAL}x)`);
  print(`  client.query() of the official library     ${ms(theirs)}  ${(theirs / least).toFixed(2)}x`);
}

/** Eight callers that ask again at once: how many answers a second, and how long the event loop stood still at most. */
async function concurrent({ ours, baseline, client }: Sides, print: (line: string) => void): Promise<void> {
  print(`${CONCURRENT} concurrent callers:`);
  for (const [name, work] of [
    ['fetch + JSON.parse + compiled conversion', baseline],
    ['this engine', ours],
    ['client.query() of the official library', client],
  ] as const) {
    let calls = work === client ? CONCURRENT_CALLS / 4 : CONCURRENT_CALLS;
    const all = calls;
    collectGarbage();
    const stalls = watchStalls();
    const start = performance.now();
    const caller = async (): Promise<void> => {
      while (calls-- > 0) await work();
    };
    await Promise.all(Array.from({ length: CONCURRENT }, caller));
    const seconds = (performance.now() - start) / 1000;
    print(
      `  ${name.padEnd(42)} ${(all / seconds).toFixed(1).padStart(6)} queries/s  longest stall ${ms(await stalls())}`,
    );
  }
}

/** Watches how late a timer of one millisecond is; what it returns ends that, with the longest delay in milliseconds. */
function watchStalls(): () => Promise<number> {
  let watching = true;
  let longest = 0;
  const watch = async (): Promise<number> => {
    while (watching) {
      const requested = performance.now();
      await sleep(1);
      longest = Math.max(longest, performance.now() - requested - 1);
    }
    return longest;
  };
  const watched = watch();
  return () => {
    watching = false;
    return watched;
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

async function cpu(work: Work): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/* The least: no deadline, no retry, no bound, no check, and the conversion written out for this one schema. */

interface Row {
  readonly f: readonly Value[];
}
interface Value {
  readonly v: unknown;
}

async function leastWork(url: string): Promise<string[]> {
  const body = JSON.stringify({ query: SQL, useLegacySql: false, maxResults: 1000 });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { rows } = JSON.parse(await response.text()) as { rows: readonly Row[] };
  return rows.map((row) => JSON.stringify(logRow(row)));
}

const list = <T>({ v }: Value, each: (row: Row) => T): T[] =>
  (v as readonly Value[]).map((element) => each(element.v as Row));
const at = ({ f }: Row, i: number): Value => f[i] as Value;
const number = ({ v }: Value): number | null => (v === null ? null : Number(v));

const logRow = (row: Row) => ({
  id: at(row, 0).v,
  timestamp: number(at(row, 1)),
  event_message: at(row, 2).v,
  metadata: list(at(row, 3), (metadata) => ({
    request: list(at(metadata, 0), (request) => ({
      method: at(request, 0).v,
      path: at(request, 1).v,
      search: at(request, 2).v,
      url: at(request, 3).v,
      host: at(request, 4).v,
      protocol: at(request, 5).v,
      headers: list(at(request, 6), (headers) => ({
        user_agent: at(headers, 0).v,
        x_real_ip: at(headers, 1).v,
        cf_ray: at(headers, 2).v,
        referer: at(headers, 3).v,
        x_client_info: at(headers, 4).v,
        cf_ipcountry: at(headers, 5).v,
        content_length: number(at(headers, 6)),
      })),
      cf: list(at(request, 7), (cf) => ({
        asn: number(at(cf, 0)),
        asOrganization: at(cf, 1).v,
        city: at(cf, 2).v,
        country: at(cf, 3).v,
        colo: at(cf, 4).v,
        continent: at(cf, 5).v,
        httpProtocol: at(cf, 6).v,
        timezone: at(cf, 7).v,
        tlsVersion: at(cf, 8).v,
        score: number(at(cf, 9)),
        verifiedBot: at(cf, 10).v === 'true',
      })),
    })),
    response: list(at(metadata, 1), (response) => ({
      status_code: number(at(response, 0)),
      origin_time: number(at(response, 1)),
      headers: list(at(response, 2), (headers) => ({
        cf_ray: at(headers, 0).v,
        content_type: at(headers, 1).v,
        date: at(headers, 2).v,
        cf_cache_status: at(headers, 3).v,
      })),
    })),
  })),
});
