/** What operators see of a process: metrics on a port of their own, and the log. */
import { spawn } from 'node:child_process';
import path from 'node:path';

import { Stage } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const API_KEY = 'a-key-for-everything';
const stage = new Stage();
afterAll(() => stage.end());

describe('METRICS_PORT', () => {
  it('answers scrapes without a key from the start to the end, and nothing else', async () => {
    const service = stage.start({ API_KEY, METRICS_PORT: '0', DRAIN_DELAY: '1', RATE_LIMIT: '50' });
    const [, port = ''] = await service.logged(/"metricsPort":(\d+)/);
    const base = `http://127.0.0.1:${port}`;
    // It is there before the service is ready.
    expect(await (await fetch(`${base}/metrics`)).text()).toContain('logquay_process_start_time_seconds ');
    const main = await service.ready();
    const run = `${main}/api/endpoints/query/usage.api-counts?project=x&interval=daily`;
    expect((await fetch(run, { headers: { 'X-API-KEY': API_KEY } })).status).toBe(200);
    expect((await fetch(run)).status).toBe(401);
    expect((await fetch(`${main}/metrics`, { headers: { 'X-API-KEY': API_KEY } })).status).toBe(404);

    const text = await (await fetch(`${base}/metrics?x=1`)).text();
    for (const line of [
      /^logquay_requests_total\{route="\/api\/endpoints\/query\/:idOrName",endpoint="usage.api-counts",status="200",reason="none"\} 1$/m,
      /^logquay_key_requests_total\{key="API_KEY",status="200"\} 1$/m,
      /^logquay_engine_runs_total\{endpoint="usage.api-counts",kind="run",result="ok"\} 1$/m,
      /^logquay_cache_writes_total\{endpoint="usage.api-counts",write="stored"\} 1$/m,
      /^logquay_cache_memory_entries 1$/m,
      /^logquay_cache_memory_bytes \d{4,}$/m,
      /^logquay_admission_running 0$/m,
      /^logquay_admission_waiting 0$/m,
      /^logquay_shared_runs 0$/m,
      /^logquay_event_loop_lag_seconds\{statistic="p99"\} [\d.e-]+$/m,
      /^logquay_event_loop_utilization_ratio 0?\.?\d+/m,
      /^logquay_process_memory_bytes\{memory="rss"\} \d{8,}$/m,
      /^logquay_process_cpu_seconds_total\{mode="user"\} 0*[\d.]+$/m,
      /^logquay_process_open_fds \d+$/m,
      /^logquay_gc_seconds_total\{gc="minor"\} /m,
      /^logquay_log_lines_dropped_total 0$/m,
      /^logquay_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+",engine="duckdb"\} 1$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toMatch(/redis_breaker\{|bigquery_breaker\{/);

    expect((await fetch(`${base}/metrics`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/health`)).status).toBe(404);
    const refused = await fetch(`${base}/metrics`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await refused.json()).toMatchObject({ error: { errors: [{ reason: 'methodNotAllowed' }] } });

    service.signal('SIGTERM');
    await service.logged(/draining/);
    expect((await fetch(`${base}/metrics`)).status).toBe(200);
    expect(await service.exit).toBe(0);
    // Scrapes are no lines of the log, apart from those that fail.
    expect(service.err).not.toMatch(/"route":"\/metrics"/);
  });
});

describe('the log', () => {
  it('has its last words when an error that nobody caught ends the process', async () => {
    const script = `
      require(${JSON.stringify(path.join(ROOT, 'test/typescript.js'))});
      const { openLog } = require(${JSON.stringify(path.join(ROOT, 'src/log.ts'))});
      const log = openLog('info', process.stderr);
      for (let i = 0; i < 2000; i++) log.info({ i }, 'line');
      log.fatal('the last');
      process.exit(1);
    `;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (data) => (err += String(data)));
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1);
    const lines = err.trim().split('\n');
    expect([lines.length, JSON.parse(lines.at(-1) ?? '')]).toEqual([
      2001,
      expect.objectContaining({ msg: 'the last' }),
    ]);
  });
});
