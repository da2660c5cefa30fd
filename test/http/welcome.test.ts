import { welcome, type WelcomeFacts } from '../../src/http/server/welcome';
import { ENDPOINTS } from './served';

const endpoint = ENDPOINTS[0];
if (endpoint === undefined) throw new Error('There is no endpoint.');

const FACTS: WelcomeFacts = {
  host: '127.0.0.1',
  port: 4000,
  endpoints: [{ ...endpoint, name: 'logs.all' }],
  tables: null,
  startKey: { secret: 'the-secret', file: '.data/key', created: true },
  apiKey: false,
  docs: true,
  explorer: true,
  terminal: false,
};

const curl = (facts: Partial<WelcomeFacts>): string =>
  /^ {2}(curl .*)$/m.exec(welcome({ ...FACTS, ...facts }))?.[1] ?? '';

it('names the page for people, where there is one', () => {
  expect(welcome(FACTS)).toContain('http://127.0.0.1:4000/docs');
  expect(welcome({ ...FACTS, docs: false })).not.toContain('/docs');
  expect(welcome(FACTS)).toContain('http://127.0.0.1:4000/explore');
  expect(welcome({ ...FACTS, explorer: false })).not.toContain('/explore');
});

it('reads the key from its file where output may be kept', () => {
  expect(curl({})).toBe(
    `curl -H "X-API-KEY: $(cat .data/key)" 'http://127.0.0.1:4000/api/endpoints/query/logs.all?project=default'`,
  );
  expect(welcome(FACTS)).not.toContain('the-secret');
});

it('shows it on a terminal', () => {
  expect(curl({ terminal: true })).toContain('"X-API-KEY: the-secret"');
});

it('never shows a key that the operator made', () => {
  expect(curl({ startKey: null, apiKey: true, terminal: true })).toContain('"X-API-KEY: $API_KEY"');
  expect(curl({ startKey: null, terminal: true })).toContain('"X-API-KEY: $KEY"');
});

it('quotes a file name that a shell would take apart', () => {
  expect(curl({ startKey: { secret: 'x', file: "my data/it's", created: false } })).toContain(
    `$(cat 'my data/it'\\''s')`,
  );
});

it('names an address that this machine reaches', () => {
  expect(curl({ host: '0.0.0.0' })).toContain("'http://127.0.0.1:4000/");
  expect(curl({ host: '::1' })).toContain("'http://[::1]:4000/");
});

it('lists the endpoints where there is no logs.all', () => {
  expect(curl({ endpoints: [] })).toMatch(/'http:\/\/127\.0\.0\.1:4000\/api\/endpoints'$/);
});

it('asks for rows of the folder where there is one, with a key that may read all of it', () => {
  const endpoints = [...FACTS.endpoints, { ...endpoint, name: 'tables' }];
  const some = Array.from({ length: 12 }, (_, i) => ({ table: `t${String(i)}`, rows: 1000 * (i + 1) }));
  expect(curl({ endpoints, tables: [] })).toMatch(/query\/tables'$/);
  expect(welcome({ ...FACTS, endpoints, tables: some })).toContain('\nTables with rows: t11 (12,000), t10 (11,000)');
  expect(welcome({ ...FACTS, endpoints, tables: some })).toContain('t2 (3,000) and 2 more\n');
  expect(curl({ endpoints, tables: some, startKey: null })).toMatch(/logs\.all/);
});
