/** Somebody's own files in an empty folder: seven kinds, each found by its first requests, on the page and live. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import type { Page } from 'playwright-core';

import { EventClient } from '../process/event-client';
import { type Started, Stage } from '../process/started';
import { until } from '../until';
import { CHROMIUM, withBrowser } from './browser';
import { enterKey, openExplorer } from './explorer-page';
import { Pages } from './pages';

jest.setTimeout(300_000);

const KEY = 'a-key-of-the-operator';
const START = Date.parse('2026-11-20T10:00:00.000Z');
const iso = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

interface Kind {
  readonly file: string;
  readonly table: string;
  /** A line at so many seconds from the start. `word` is in its message alone. */
  readonly line: (seconds: number, word: string) => string;
  readonly head?: string;
  /** LQL of a nested path that all lines have. */
  readonly nested: string;
  readonly severity: string | null;
}

const json = (value: object): string => `${JSON.stringify(value)}\n`;

const KINDS: readonly Kind[] = [
  {
    file: 'kube.log',
    table: 'kube',
    line: (at, word) =>
      json({
        time: iso(at).replace('Z', '123456Z'),
        stream: 'stderr',
        log: `${word} probe failed`,
        level: 'error',
        kubernetes: { pod_name: 'web-0', namespace_name: 'shop', labels: { app: 'web' } },
      }),
    nested: 'kubernetes.labels.app:web',
    severity: 'error',
  },
  {
    file: 'api.ndjson',
    table: 'api',
    line: (at, word) =>
      json({ level: 50, time: START + at * 1000, pid: 7, hostname: 'h', req: { method: 'GET', id: at }, msg: word }),
    nested: 'req.method:GET',
    severity: 'error',
  },
  {
    file: 'access.log',
    table: 'access',
    line: (at, word) => {
      const [, time = ''] = /T(\d\d:\d\d:\d\d)/.exec(iso(at)) ?? [];
      return `10.0.0.9 - - [20/Nov/2026:${time} +0000] "GET /${word} HTTP/1.1" 502 12 "-" "curl/8.0"\n`;
    },
    nested: 'status:>=500',
    severity: 'error',
  },
  {
    file: 'cloudtrail.jsonl',
    table: 'cloudtrail',
    line: (at, word) =>
      json({
        eventVersion: '1.08',
        eventTime: iso(at).replace('.000Z', 'Z'),
        eventName: word,
        userIdentity: { type: 'AssumedRole', sessionContext: { sessionIssuer: { userName: 'deploy' } } },
      }),
    nested: 'userIdentity.sessionContext.sessionIssuer.userName:deploy',
    severity: null,
  },
  {
    file: 'cloud_logging.json',
    table: 'cloud_logging',
    line: (at, word) =>
      json({
        timestamp: iso(at),
        severity: 'ERROR',
        jsonPayload: { message: `${word} in checkout`, cart: { items: 3 } },
        resource: { type: 'k8s_container', labels: { cluster_name: 'c1' } },
        httpRequest: { status: 503 },
      }),
    nested: 'httpRequest.status:>=500 resource.labels.cluster_name:c1',
    severity: 'error',
  },
  {
    file: 'otel.ndjson',
    table: 'otel',
    line: (at, word) =>
      json({
        timestamp: iso(at),
        severity_number: 17,
        body: `${word} at the exporter`,
        trace_id: '5b8efff798038103d269b633813fc60c',
        attributes: { 'http.status_code': 500, user: { id: 4 } },
      }),
    nested: 'attributes.user.id:4',
    severity: 'error',
  },
  {
    file: 'orders.csv',
    table: 'orders',
    head: 'created_at,level,message,total\n',
    line: (at, word) => `${iso(at)},error,"${word}, again",${String(at)}.5\n`,
    nested: 'total:>=0',
    severity: 'error',
  },
];

const PATH = '/api/endpoints/query/tables';

withBrowser('own logs', () => {
  const stage = new Stage();
  let pages: Pages;
  let service: Started;
  let data = '';
  let base = '';
  beforeAll(async () => {
    if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
    const folder = stage.folder();
    data = path.join(folder, 'data');
    mkdirSync(data);
    service = stage.start({ DATA_DIR: data, API_KEY: KEY }, folder);
    base = `http://127.0.0.1:${String(await service.port())}`;
  });
  afterEach(() => pages.endTest());
  afterAll(async () => {
    await pages.close();
    await stage.end();
  });

  const find = async (lql: string): Promise<readonly object[]> => {
    const response = await fetch(`${base}${PATH}?lql=${encodeURIComponent(lql)}`, { headers: { 'X-API-KEY': KEY } });
    const text = await response.text();
    const { result } = JSON.parse(text) as { result?: readonly object[] };
    if (result === undefined) throw new Error(`${lql}: ${text}`);
    return result;
  };

  it('shows nothing of the tables before there are any', async () => {
    const { page } = await openExplorer(pages, base, {});
    await enterKey(page, KEY);
    await page
      .getByText(/no rows/i)
      .first()
      .waitFor();
  });

  it.each(KINDS.map((kind) => [kind.file, kind] as const))('of %s are found', async (file, kind) => {
    const { table, line, nested, severity, head = '' } = kind;
    const write = (text: string): void => appendFileSync(path.join(data, file), text);
    const few = Array.from({ length: 20 }, (_, i) => line(i, i === 18 ? 'zebra' : 'giraffe'));
    write(head + few.join(''));
    const lql = `f:${table} zebra`;
    await until(async () => {
      const { result } = (await (
        await fetch(`${base}${PATH}?sql=${encodeURIComponent(`SELECT COUNT(*) AS n FROM ${table}`)}`, {
          headers: { 'X-API-KEY': KEY },
        })
      ).json()) as { result?: readonly { n: number }[] };
      return result?.[0]?.n === 20;
    });
    // What the start prints, as it stands.
    const [command = ''] = /curl .*/.exec(service.out) ?? [];
    const env = { PATH: process.env['PATH'] ?? '', API_KEY: KEY };
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8', env, stdio: 'pipe' })).toContain('"result":[{');
    expect(await find(lql)).toHaveLength(1);
    expect(await find(`f:${table} ${nested}`)).toHaveLength(20);
    expect(await find(`f:${table} c:count(*) c:group_by(t::minute)`)).toMatchObject([{ count: 20 }]);

    const { page } = await openExplorer(pages, base, {
      endpoint: 'tables',
      lql: `f:${table}`,
      range: `${iso(-60)}/${iso(600)}`,
    });
    await enterKeyIfAsked(page);
    await page.getByText('zebra').first().waitFor();
    if (severity !== null) await until(async () => (await page.locator(`.row.${severity}`).count()) > 10);
    await page.locator('.histogram canvas, .histogram svg').first().waitFor();

    const port = Number(new URL(base).port);
    const tail = await EventClient.open(port, '/api/endpoints/tail/tables', { lql }, { key: KEY });
    await until(() => tail.events.length > 0 || tail.end !== undefined);
    write(line(30, 'zebra'));
    await until(() => tail.rows.length > 0 || tail.end !== undefined);
    expect(tail.rows[0]).toContain('zebra');
    tail.leave();
  });

  async function enterKeyIfAsked(page: Page): Promise<void> {
    if (await page.getByRole('textbox', { name: 'Key' }).isVisible()) await enterKey(page, KEY);
  }
});
