/** Every example in the pages that begins with curl, run as it stands against a started process. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const ROOT = path.join(__dirname, '../..');
const PAGES = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs')).flatMap((file) => (file.endsWith('.md') ? `docs/${file}` : [])),
];
const EXAMPLES = PAGES.flatMap((page) => {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => (block ?? '').trim());
  return blocks.filter((block) => block.startsWith('curl')).map((block) => [page, block] as const);
});

let stage: Stage;
let service: Started;
let base: string;
beforeAll(async () => {
  stage = new Stage();
  service = stage.start({ DATA_DIR: '' });
  base = await service.ready();
});
afterAll(() => stage.end());

it('are on the pages that tell how to ask', () => {
  const pages = new Set(EXAMPLES.map(([page]) => page));
  for (const page of ['README.md', 'docs/http.md', 'docs/endpoints.md', 'docs/lql.md', 'docs/keys.md']) {
    expect([page, pages.has(page)]).toEqual([page, true]);
  }
  // Where the service listens by default: only so an example can be pasted.
  for (const [, example] of EXAMPLES) expect(example).toContain('http://127.0.0.1:4000/');
});

it.each(EXAMPLES)('%s: %s', async (_page, example) => {
  const key = readFileSync(path.join(service.folder, '.data/key'), 'utf8').trim();
  const script = `curl() { command curl -sS --fail "$@"; }\n${example.replaceAll('http://127.0.0.1:4000', base)}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    cwd: service.folder,
    env: { PATH: process.env.PATH, KEY: key },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (example.includes('text/csv')) {
    expect(stdout.split('\r\n').length).toBeGreaterThan(30);
  } else {
    const answer = JSON.parse(stdout) as { result?: unknown; openapi?: string };
    expect(answer.result ?? answer.openapi).toBeDefined();
  }
});

it("give rows where they are the README's", async () => {
  const requests = EXAMPLES.filter(([page]) => page === 'README.md');
  expect(requests).toHaveLength(2);
  const answers: string[] = [];
  for (const [, command] of requests) {
    const here = command.replaceAll('http://127.0.0.1:4000', base);
    const { stdout } = await promisify(execFile)('sh', ['-c', `${here} -s --fail`], { cwd: service.folder });
    answers.push(stdout);
  }
  const { result } = JSON.parse(answers[0] ?? '') as { result: object[] };
  expect(result.length).toBeGreaterThan(0);
  const [header, ...rows] = (answers[1] ?? '').trim().split('\r\n');
  expect(header).toBe(
    'timestamp,total_rest_requests,total_storage_requests,total_auth_requests,total_realtime_requests',
  );
  expect(rows.length).toBeGreaterThan(30);
});
