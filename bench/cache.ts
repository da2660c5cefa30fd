/** Cached answers with every check on, against bare node:http that writes the same status, headers and bytes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { BareAnswer } from './bare-server';
import { pinApart } from './cores';
import { load } from './load';
import { median } from './measure';
import { rowsEndpoint } from './rows-endpoint';
import { API_KEY, firstAnswer, type Service, startService } from './service';
import { sharing } from './sharing';

const ROUNDS = 5;
const SECONDS = 2;
const GOALS = { hit: 0.55, 'not modified': 0.45 } as const;

const ROWS = 1000;

const PATH = '/api/endpoints/query/bench.rows?project=default';

export async function cache(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const endpoint = rowsEndpoint('bench.rows', '6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c11', ROWS);
  writeFileSync(join(folder, 'bench.rows.sql'), endpoint);
  const log = openSync(join(folder, 'log'), 'w');
  const settings = {
    QUERIES_DIR: folder,
    DATA_DIR: join(__dirname, '../../../test/fixture'),
    CACHE_DIR: join(folder, 'cache'),
    LOG_LEVEL: 'info',
    RATE_LIMIT: '1000000',
    METRICS_KEY: API_KEY,
  };
  const service = await startService(settings, log);
  try {
    print(
      pinApart(service.pid)
        ? '  server and load on a core of their own'
        : '  server and load share cores: taskset is missing',
    );
    await firstAnswer(service, PATH);
    const etag = (await ask(service, {})).headers['etag'] ?? '';
    await scenario(print, 'hit', service, {}, folder);
    await scenario(print, 'not modified', service, { 'If-None-Match': etag }, folder);
    await service.stop();
    await sharing(print);
  } finally {
    await service.stop();
    closeSync(log);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function scenario(
  print: (line: string) => void,
  name: keyof typeof GOALS,
  service: Service,
  more: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  const answer = await ask(service, more);
  const file = join(folder, 'answer.json');
  writeFileSync(file, JSON.stringify(answer));
  const bare = await startBare(file);
  try {
    const request = requestText(more);
    const ours: number[] = [];
    const theirs: number[] = [];
    const { status } = answer;
    for (let round = 0; round <= ROUNDS; round++) {
      const us = await load({ port: Number(new URL(service.origin).port), request, status }, SECONDS);
      const them = await load({ port: bare.port, request, status }, SECONDS);
      if (round === 0) continue; // the compilers' turn
      ours.push(us);
      theirs.push(them);
    }
    const ratio = median(ours.map((value, i) => value / (theirs[i] ?? NaN)));
    const goal = GOALS[name];
    const bytes = Buffer.from(answer.body, 'base64').length;
    print(
      `  ${name.padEnd(14)} ${median(ours).toFixed(0).padStart(6)}/s, bare ${median(theirs).toFixed(0).padStart(6)}/s of ${bytes} bytes: ` +
        `${ratio.toFixed(2)} (${ratio >= goal ? 'within' : 'MISSES'} goal ${goal})`,
    );
  } finally {
    bare.child.kill('SIGTERM');
    await once(bare.child, 'exit');
  }
}

const HEADERS = { 'X-API-KEY': API_KEY, Accept: 'application/json', 'Accept-Encoding': 'gzip' };

function requestText(more: Readonly<Record<string, string>>): string {
  const headers = Object.entries({ Host: 'localhost', ...HEADERS, ...more }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `GET ${PATH} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
}

/** One answer as it goes over the wire, without what node:http adds by itself. */
async function ask({ origin }: Service, more: Readonly<Record<string, string>>): Promise<BareAnswer> {
  const request = http.get(origin + PATH, { headers: { ...HEADERS, ...more } });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const headers: Record<string, string> = {};
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i] ?? '';
    if (!/^(date|connection|keep-alive|transfer-encoding)$/i.test(name))
      headers[name] = response.rawHeaders[i + 1] ?? '';
  }
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString('base64') };
}

async function startBare(file: string): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [join(__dirname, 'bare-server.js'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  pinApart(child.pid ?? 0);
  return { port: Number(String(line)), child };
}
