/** The endpoint over the tables of a folder that begins empty, in the real process. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { hashOf } from '../../src/keys/key';
import { until } from '../until';
import { EventClient } from './event-client';
import { Stage } from './started';

jest.setTimeout(120_000);

const stage = new Stage();
afterAll(() => stage.end());

const API_KEY = 'a-key-of-the-operator';
const KEYS = {
  any: {},
  named: { endpoints: ['tables'] },
  pinned: { endpoints: ['tables'], pins: { iso_timestamp_start: '2026-01-01' } },
};
const PATH = '/api/endpoints/query/tables';
const STAR = '/api/endpoints/query/star?lql=f:app+more.of:1';

it('serves what comes into an empty folder, to who may see all of it', async () => {
  const folder = stage.folder();
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const keys = Object.entries(KEYS).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
  writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys }));
  const service = stage.start({ DATA_DIR: data, KEYS_FILE: path.join(folder, 'keys.json'), API_KEY }, folder);
  const port = await service.port();
  const base = `http://127.0.0.1:${String(port)}`;
  const get = async (url: string, key = API_KEY): Promise<{ status: number; text: string }> => {
    const response = await fetch(base + url, { headers: { 'X-API-KEY': key } });
    return { status: response.status, text: await response.text() };
  };
  const rows = async (query = '', key = API_KEY): Promise<unknown> => {
    const { text } = await get(`${PATH}${query}`, key);
    return (JSON.parse(text) as { result?: unknown }).result ?? text;
  };
  const write = (file: string, ...lines: object[]): void =>
    appendFileSync(path.join(data, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const newest = (time: string): Promise<void> =>
    until(async () => JSON.stringify(await rows('?timestamps=iso')).includes(time));

  expect(service.out).toContain(`'${base}${PATH}'`);
  expect(service.out).toContain('DATA_DIR has no rows yet');
  expect(await rows()).toEqual([]);

  write('my-app.log', { ts: '2026-11-01T10:00:00Z', level: 'info', msg: 'began' });
  await newest('2026-11-01T10:00:00');
  const lql = encodeURIComponent('f:my_app msg:began');
  expect(await rows(`?lql=${lql}`)).toMatchObject([{ msg: 'began' }]);
  expect(await rows('?iso_timestamp_end=2026-11-01')).toEqual([]);
  const star = '/*\nid: 66666666-bbbb-4000-8000-000000000002\nname: star\nsandbox: true\n*/\n';
  writeFileSync(
    path.join(folder, 'queries/star.sql'),
    `${star}WITH app AS (SELECT * FROM \`my-app\` AS t) SELECT * FROM app`,
  );
  const newField = async (): Promise<readonly string[]> =>
    Promise.all(
      [`${PATH}?lql=f:my_app+more.of:1`, `${PATH}?sql=SELECT+more+FROM+my_app`, STAR].map(
        async (url) => (await get(url)).text,
      ),
    );
  await until(async () => (await get(STAR)).text.includes('unknownField'));
  for (const text of await newField()) expect(text).toContain('unknownField');
  const ready = async (key: string): Promise<unknown> =>
    (JSON.parse((await get('/ready', key)).text) as { tables?: unknown }).tables;
  expect([await ready(API_KEY), await ready('named'), await ready('any'), await ready('nobody')]).toEqual([
    [{ table: 'my-app', rows: 1 }],
    [{ table: 'my-app', rows: 1 }],
    undefined,
    undefined,
  ]);

  // A new table, and a new field, end no tail that does not read them.
  const tail = await EventClient.open(port, '/api/endpoints/tail/tables', { lql: 'f:my_app' }, { key: 'named' });
  write('2other.ndjson', { time: '2026-11-02T10:00:00Z', n: 1 });
  await newest('2026-11-02T10:00:00');
  write('my-app.log', { ts: '2026-11-01T10:00:01Z', level: 'info', msg: 'went on', more: { of: 1 } });
  await until(() => tail.rows.length > 0 || tail.end !== undefined);
  expect(tail.end).toBeUndefined();
  expect(JSON.parse(tail.rows[0] ?? '')).toMatchObject({ msg: 'went on' });
  expect(await rows('?sql=SELECT+n+FROM+_2other')).toEqual([{ n: 1 }]);
  // Queries may name the field: those of the endpoint and of stored queries over the table.
  await until(async () => (await newField()).every((text) => text.includes('"more":{"of":1}')));
  const unnamed = await get('/api/endpoints/tail/tables', 'named');
  expect([unnamed.status, unnamed.text]).toEqual([400, expect.stringContaining('lql=f:')]);

  // For others there is no such endpoint.
  const none = await get(PATH, 'any');
  const unknown = await get('/api/endpoints/query/table', 'any');
  const withoutId = ({ status, text }: typeof none): unknown => [status, text.replace(/"requestId":"[^"]*"/, '')];
  expect(withoutId(none)).toEqual(withoutId(unknown));
  expect(withoutId(await get(PATH, 'pinned'))).toEqual(withoutId(unknown));
  for (const url of ['/api/endpoints', '/api/key', '/openapi.json', '/docs']) {
    expect([url, /query\/tables|my_app|6c1f0a9e/.exec((await get(url, 'any')).text)?.[0]]).toEqual([url, undefined]);
  }
  expect((await get('/api/endpoints', 'named')).text).toContain('"tables":["_2other","my_app"]');

  // A file of the name takes its place, for as long as there is one.
  const file = path.join(folder, 'queries/tables.sql');
  writeFileSync(file, '/*\nid: 66666666-bbbb-4000-8000-000000000001\nname: tables\n*/\nSELECT 7 AS seven');
  await until(async () => JSON.stringify(await rows('', 'any')) === '[{"seven":7}]');
  await until(() => tail.end !== undefined);
  expect(JSON.parse(tail.end?.data ?? '')).toMatchObject({ cause: 'endpoint_changed' });
  // The log comes by another way than the end of the tail.
  await until(() => service.err.includes('the built-in endpoint tables is off'));
  expect(service.err.match(/the built-in endpoint tables is off/g)).toHaveLength(1);
  rmSync(file);
  await newest('2026-11-02T10:00:00');
});
