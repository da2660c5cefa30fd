/** What the cache is for: one run for many who ask at once, over two processes; and memory that stays bounded. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startRedis } from './redis';
import { rowsEndpoint } from './rows-endpoint';
import { API_KEY, firstAnswer, residentMiB, type Service, startService } from './service';

const WAITERS = 1000;
const KEYS = 10_000;
const CACHE_BYTES = 32 * 1024 * 1024;
const AT_ONCE = 8;

/** Slow enough that everybody has asked before it is answered. */
const SLOW = `/*
id: 6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c13
name: bench.slow
description: One row that takes its time.
cache_ttl: 900
sandbox: true
params:
  project: { type: string, required: true, description: Whose row. }
*/
WITH slow AS (
  SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 30000)) AS a, UNNEST(GENERATE_ARRAY(1, 30000)) AS b
  WHERE MOD(a * b, 7) = 1
)
SELECT n, @project AS project FROM slow
`;

export async function sharing(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  writeFileSync(join(folder, 'bench.slow.sql'), SLOW);
  writeFileSync(join(folder, 'bench.few.sql'), rowsEndpoint('bench.few', '6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c12', 50));
  const log = openSync(join(folder, 'log'), 'w');
  const redis = await startRedis();
  const start = (name: string): Promise<Service> =>
    startService(
      {
        QUERIES_DIR: folder,
        DATA_DIR: join(__dirname, '../../../test/fixture'),
        CACHE_DIR: join(folder, name),
        REDIS_URL: redis.url,
        REDIS_TIMEOUT: '1',
        RATE_LIMIT: '0',
        CACHE_MEMORY: String(CACHE_BYTES),
        METRICS_KEY: API_KEY,
      },
      log,
    );
  const services = [await start('a'), await start('b')];
  try {
    for (const service of services) await firstAnswer(service, '/api/endpoints');
    await misses(print, services);
    await distinct(print, services[0] as Service);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await redis.stop();
    closeSync(log);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function misses(print: (line: string) => void, services: readonly Service[]): Promise<void> {
  const agent = new http.Agent({ keepAlive: true });
  const ask = (i: number): Promise<string> => {
    const { origin } = services[i % services.length] as Service;
    return get(`${origin}/api/endpoints/query/bench.slow?project=a`, agent);
  };
  const start = performance.now();
  const answers = await Promise.all(Array.from({ length: WAITERS }, (_, i) => ask(i)));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  const runs = await Promise.all(services.map((service) => metric(service, 'logquay_engine_runs_total')));
  const total = runs.reduce((sum, one) => sum + one, 0);
  const same = new Set(answers).size === 1;
  print(
    `  ${WAITERS} identical misses at once over ${services.length} processes: ${total} engine run(s), ` +
      `${same ? 'all answers alike' : 'ANSWERS DIFFER'}, ${seconds.toFixed(1)} s (${total === 1 ? 'within' : 'MISSES'} goal of exactly 1)`,
  );
}

async function distinct(print: (line: string) => void, service: Service): Promise<void> {
  const agent = new http.Agent({ keepAlive: true });
  const before = residentMiB(service.pid);
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < KEYS) await get(`${service.origin}/api/endpoints/query/bench.few?project=p${next++}`, agent);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  const bytes = await metric(service, 'logquay_cache_memory_bytes');
  const entries = await metric(service, 'logquay_cache_memory_entries');
  const verdict = bytes <= CACHE_BYTES ? 'within' : 'MISSES';
  print(
    `  ${KEYS} distinct keys: ${entries} kept, ${(bytes / 2 ** 20).toFixed(1)} MiB (${verdict} bound ${CACHE_BYTES / 2 ** 20} MiB); ` +
      `process ${before.toFixed(0)} MiB before, ${residentMiB(service.pid).toFixed(0)} MiB after`,
  );
}

/** The body of a 200. */
function get(url: string, agent: http.Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers: { 'X-API-KEY': API_KEY } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(body);
        else reject(new Error(`${response.statusCode} ${body}`));
      });
    });
    request.on('error', reject);
  });
}

/** The sum of a metric over its labels. */
async function metric({ origin }: Service, name: string): Promise<number> {
  const response = await fetch(`${origin}/metrics`, { headers: { 'X-API-KEY': API_KEY } });
  const text = await response.text();
  if (!text.includes(`# TYPE ${name} `)) throw new Error(`There is no metric ${name}: ${response.status}.`);
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
