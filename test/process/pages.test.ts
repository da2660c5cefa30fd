/** Pages of stored queries from the real process, while rows arrive. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { hashOf } from '../../src/keys/key';
import { until } from '../until';
import { Stage } from './started';

jest.setTimeout(180_000);

const HEAD = (id: number, name: string): string => `/*
id: 77777777-aaaa-4000-8000-00000000000${String(id)}
name: ${name}
max_rows: 100
params:
  project: { type: string, required: true, description: Whose rows. }
*/`;

const QUERIES = {
  newest: `${HEAD(1, 'newest')}
SELECT timestamp, id, kind FROM raw_rows WHERE project = @project ORDER BY timestamp DESC, kind, id`,
  tied: `${HEAD(2, 'tied')}
SELECT id, kind FROM raw_rows WHERE project = @project ORDER BY kind`,
  unordered: `${HEAD(3, 'unordered')}
SELECT id FROM raw_rows WHERE project = @project`,
  hidden: `${HEAD(4, 'hidden')}
SELECT id FROM raw_rows WHERE project = @project ORDER BY timestamp`,
};

const FIELDS = [
  { name: 'project', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'id', type: 'STRING' },
  { name: 'kind', type: 'STRING' },
];

/** Minutes of a row's time, of which several have the same, or none; kinds repeat, and two rows are alike. */
const line = (n: number, minute: number, project = 'a'): string =>
  `${JSON.stringify({
    project,
    timestamp: `2026-09-30T12:${String(minute).padStart(2, '0')}:00Z`,
    id: `row ${String(n).padStart(3, '0')}`,
    kind: n % 4 === 0 ? null : `kind ${String(n % 3)}`,
  })}\n`;

interface Page {
  readonly result: { readonly id: string }[];
  readonly next_page_token?: string;
}

const stage = new Stage();
let port: number;
let file: string;

beforeAll(async () => {
  const folder = stage.folder();
  for (const [name, sql] of Object.entries(QUERIES)) writeFileSync(path.join(folder, `queries/${name}.sql`), sql);
  const data = path.join(folder, 'data');
  mkdirSync(data);
  writeFileSync(path.join(data, 'schema.json'), JSON.stringify({ raw_rows: { fields: FIELDS } }));
  file = path.join(data, 'raw_rows.ndjson');
  const own = Array.from({ length: 40 }, (_, n) => line(n, Math.floor(n / 6)));
  writeFileSync(file, [...own, own[7], line(500, 3, 'b')].join(''));
  const keys = ['one', 'two'].map((name) => ({ name, hash: hashOf(name).toString('hex') }));
  const keysFile = path.join(folder, 'keys.json');
  writeFileSync(keysFile, JSON.stringify({ keys }));
  port = await stage.start({ KEYS_FILE: keysFile, DATA_DIR: data }, folder).port();
  await until(async () => (await rowsOf('newest')).length === 41);
});
afterAll(() => stage.end());

async function get(name: string, query: Readonly<Record<string, string>>, key = 'one'): Promise<Response> {
  const search = new URLSearchParams({ project: 'a', ...query }).toString();
  return fetch(`http://127.0.0.1:${String(port)}/api/endpoints/query/${name}?${search}`, {
    headers: { 'X-API-KEY': key },
  });
}

async function page(name: string, query: Readonly<Record<string, string>>): Promise<Page> {
  const response = await get(name, query);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Page;
}

async function rowsOf(name: string): Promise<Page['result']> {
  return (await page(name, {})).result;
}

/** All pages; between two of them `meanwhile` is done. */
async function pagesOf(
  name: string,
  size: number,
  more: Readonly<Record<string, string>> = {},
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<Page['result'][]> {
  const pages: Page['result'][] = [];
  let token: string | undefined;
  do {
    const query = { page_size: String(size), ...(token === undefined ? {} : { page_token: token }), ...more };
    const { result, next_page_token: next } = await page(name, query);
    pages.push(result);
    token = next;
    await meanwhile();
  } while (token !== undefined);
  return pages;
}

const reasonOf = async (response: Response): Promise<unknown> => [
  response.status,
  ((await response.json()) as { error: { errors: { reason: string }[] } }).error.errors[0]?.reason,
];

it.each([3, 40, 41, 100])('gives every row once, in order, %d at a time', async (size) => {
  const all = await rowsOf('newest');
  const pages = await pagesOf('newest', size);
  expect(pages.flat()).toEqual(all);
  expect(pages.slice(0, -1).every(({ length }) => length === size)).toBe(true);
});

it('gives every row once where many have the same keys, two rows are alike and keys are null', async () => {
  const sorted = (rows: Page['result']): string[] => rows.map((row) => JSON.stringify(row)).sort();
  for (const size of [2, 5, 11])
    expect(sorted((await pagesOf('tied', size)).flat())).toEqual(sorted(await rowsOf('tied')));
});

it('goes on where timestamps are ISO 8601', async () => {
  const all = (await page('newest', { timestamps: 'iso' })).result;
  expect((await pagesOf('newest', 9, { timestamps: 'iso' })).flat()).toEqual(all);
});

it('loses and doubles no row while newer ones arrive', async () => {
  const before = await rowsOf('newest');
  let n = 600;
  const pages = await pagesOf('newest', 10, {}, async () => {
    const count = (await rowsOf('newest')).length;
    appendFileSync(file, line(n++, 59) + line(n++, 58, 'b'));
    await until(async () => (await rowsOf('newest')).length === count + 1);
  });
  expect(pages.flat()).toEqual(before);
  expect((await rowsOf('newest')).length).toBeGreaterThan(before.length + 3);
});

it('takes a token for the request that it came from alone', async () => {
  const { next_page_token: token = '' } = await page('newest', { page_size: '2' });
  expect((await get('newest', { page_size: '5', page_token: token })).status).toBe(200);
  const others = [
    get('newest', { page_size: '2', page_token: token }, 'two'),
    get('newest', { page_size: '2', page_token: token, project: 'b' }),
    get('tied', { page_size: '2', page_token: token }),
    get('newest', { page_size: '2', page_token: `${token.slice(0, -2)}AA` }),
    get('newest', { page_size: '2', page_token: 'nonsense' }),
  ];
  for (const other of await Promise.all(others)) expect(await reasonOf(other)).toEqual([400, 'invalidParameter']);
});

it.each([
  ['without an order', 'unordered', { page_size: '2' }],
  ['by what is no column of the result', 'hidden', { page_size: '2' }],
  ['of no rows', 'newest', { page_size: '0' }],
  ['of more than max_rows', 'newest', { page_size: '101' }],
  ['of no size', 'newest', { page_token: 'x' }],
])('has no pages %s', async (_what, name, query) => {
  expect(await reasonOf(await get(name, query))).toEqual([400, 'invalidParameter']);
});
