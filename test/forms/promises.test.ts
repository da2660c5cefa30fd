/**
 * What holds for a run holds for each of its forms: one started service, a row for each promise, a column for each form. A promise names the forms that it
 * is not for, with the reason.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { hashOf } from '../../src/keys/key';
import { EventClient } from '../process/event-client';
import { Stage, type Started } from '../process/started';
import { until } from '../until';
import { type Ask, type Form, type FormName, FORMS, type Json, type Pairs, type Site, those, type Told } from './forms';

jest.setTimeout(180_000);

const ID = '77777777-abcd-4000-8000-00000000000a';

/** The most rows of an answer, of an export and of a page. */
const MOST = 4;
const SECRETS = ['10.1.2.3', 'ana@example.com'];

const events = (project: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${project}-${String(i)} from ${SECRETS.join(' ')} of ${project}`);
/** As many as an answer may have, and one more. */
const ROWS = { abc: events('abc', MOST), def: events('def', MOST + 1), ghi: events('ghi', 2) } as const;
const masked = (rows: readonly string[]): string[] =>
  rows.map((row) => SECRETS.reduce((text, secret) => text.replace(secret, 'REDACTED'), row));

const endpoint = (name: string, id: string, settings = '', where = ''): string => `/*
id: ${id}
name: ${name}
sandbox: true
mcp: true
max_rows: ${String(MOST)}
export: ${String(MOST)}
${settings}
params:
  project: { type: string, required: true }
  note: { type: string }
*/
WITH events AS (
  SELECT timestamp, id, event_message FROM raw_events WHERE project = @project AND (@note = '' OR LENGTH(@note) > 0)${where}
)
SELECT id, event_message FROM events ORDER BY id`;

const QUERIES = {
  rows: endpoint('forms.rows', ID, 'cache_ttl: 600'),
  masked: endpoint('forms.masked', '77777777-abcd-4000-8000-00000000000b', 'cache_ttl: 600\nredact_pii: true'),
  failing: endpoint(
    'forms.failing',
    '77777777-abcd-4000-8000-00000000000c',
    'cache_ttl: 600',
    ' AND 1 / LENGTH(REPLACE(@note, "zero", "")) > 0',
  ),
};

const TEXT = 'SELECT id, event_message FROM events';

const PINS = { pins: { project: 'abc' } };

const KEYS: Readonly<Record<string, object>> = {
  open: {},
  pinned: PINS,
  masked: { redact: true },
  'masked-sql': { redact: true, allowSql: true },
  listed: { endpoints: ['forms.rows'] },
  'listed-in-another-case': { endpoints: ['Forms.Rows'] },
  'listed-another': { endpoints: ['forms.masked'] },
  'listed-by-id': { endpoints: [ID.toUpperCase()] },
  'pinned-otherwise': { pins: { Project: 'abc' } },
  expired: { expires: '2026-01-01T00:00:00Z' },
  'without-exports': { export: false },
  ...Object.fromEntries(Object.keys(FORMS).map((_, i) => [`rated-${String(i)}`, { rateLimit: 0.001 }])),
};

/** Keys of which something changes while the service runs, and what then comes of them. Absent: it is revoked. */
const CHANGES: Readonly<
  Record<string, { readonly before: object; readonly after?: object; readonly gives: object | readonly string[] }>
> = {
  revoked: { before: {}, gives: { reason: 'unauthenticated' } },
  'of-yesterday': { before: {}, after: { expires: '2026-01-01T00:00:00Z' }, gives: { reason: 'unauthenticated' } },
  narrowed: { before: {}, after: { endpoints: ['forms.masked'] }, gives: { reason: 'notFound' } },
  fenced: { before: {}, after: PINS, gives: ROWS.abc },
  'fenced-otherwise': { before: PINS, after: { pins: { project: 'ghi' } }, gives: ROWS.ghi },
  'masked-now': { before: { allowSql: true }, after: { allowSql: true, redact: true }, gives: masked(ROWS.abc) },
};

const changed = (when: 'before' | 'after'): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(CHANGES).flatMap(([name, { [when]: rights }]) => (rights === undefined ? [] : [[name, rights]])),
  );

/** A promise: what to demand of each form, and of which not. */
interface Promised {
  readonly not?: Partial<Record<FormName, string>>;
  holds(form: Form, name: FormName): Promise<void>;
}

const OF_STORED = 'It takes no query of the caller.';
const NO_ROWS = 'It gives no rows.';
const because = (names: readonly FormName[], reason: string): Partial<Record<FormName, string>> =>
  Object.fromEntries(names.map((name) => [name, reason]));
const stored = because(
  those(({ of }) => of === 'stored'),
  OF_STORED,
);
const analyses = because(
  those(({ gives }) => gives === 'analysis'),
  NO_ROWS,
);

const stage = new Stage();
let service: Started;
let site: Site;
let keysFile = '';

/** Of the endpoint, beside its project. */
const writeQuery = (folder: string, where = ''): void =>
  writeFileSync(path.join(folder, 'queries/rows.sql'), endpoint('forms.rows', ID, 'cache_ttl: 600', where));

function writeKeys(keys: Readonly<Record<string, object>>): void {
  const entries = Object.entries(keys).map(([name, more]) => ({
    name,
    hash: hashOf(name).toString('hex'),
    export: true,
    ...more,
  }));
  writeFileSync(keysFile, JSON.stringify({ keys: entries }));
}

beforeAll(async () => {
  const folder = stage.folder();
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const rows = Object.entries(ROWS).flatMap(([project, own]) =>
    own.map((row, i) => {
      const [id = '', ...words] = row.split(' ');
      return { timestamp: `2026-11-22T10:00:0${String(9 - i)}Z`, id, project, event_message: words.join(' ') };
    }),
  );
  writeFileSync(path.join(data, 'raw_events.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const fields = ['timestamp', 'id', 'project', 'event_message'].map((name) => ({
    name,
    type: name === 'timestamp' ? 'TIMESTAMP' : 'STRING',
  }));
  writeFileSync(path.join(data, 'schema.json'), JSON.stringify({ raw_events: { fields } }));
  for (const [name, sql] of Object.entries(QUERIES)) writeFileSync(path.join(folder, `queries/${name}.sql`), sql);
  keysFile = path.join(folder, 'keys.json');
  writeKeys({ ...KEYS, ...changed('before') });
  service = stage.start({ DATA_DIR: data, KEYS_FILE: keysFile, MAX_TAILS_PER_KEY: '100' }, folder);
  site = { port: await service.port(), folder };
});
afterAll(() => stage.end());

const of = (project: string): Pairs => [['project', project]];

/** Demands these rows, of a form that gives any. */
function expectRows(form: Form, { error, rows }: Told, expected: readonly string[]): void {
  expect(error).toBeNull();
  if (form.gives === 'rows') expect([...(rows ?? [])].sort()).toEqual(expected);
}

function expectFault({ error, rows, bytes }: Told, fault: object): void {
  expect(error).toMatchObject(fault);
  expect(rows).toBeNull();
  expect(bytes).not.toContain(SECRETS[0]);
}

const PROMISES: Readonly<Record<string, Promised>> = {
  'gives the rows that were asked for': {
    async holds(form) {
      expectRows(form, await form.ask(site, { key: 'open', parameters: of('abc') }), ROWS.abc);
    },
  },
  'gives a pinned key rows of its project alone, whatever name, case or header another has': {
    async holds(form) {
      const other = { headers: { project: 'def', 'X-Project': 'def' } };
      for (const parameters of [
        [],
        of('abc'),
        [['Project', 'def']],
        [
          ['PROJECT', 'def'],
          ['project', 'abc'],
        ],
      ] as const) {
        const told = await form.ask(site, { key: 'pinned', parameters, ...other });
        expectRows(form, told, ROWS.abc);
        expect(told.bytes).not.toContain('of def');
        expect(told.headers['server-timing']).toBeUndefined();
      }
    },
  },
  'refuses a pinned key another value': {
    async holds(form) {
      // What another key was answered is kept.
      await form.ask(site, { key: 'open', parameters: of('def') });
      for (const value of ['def', 'ABC', 'abc ', ['abc']]) {
        const told = await form.ask(site, { key: 'pinned', parameters: [['project', value]] });
        expectFault(told, { reason: 'accessDenied', parameter: 'project' });
      }
    },
  },
  'refuses a parameter that comes twice': {
    not: { 'a tool of its own': 'Its arguments are a JSON object, of whose members JSON.parse takes the last.' },
    async holds(form) {
      for (const key of ['open', 'pinned']) {
        for (const values of [
          ['abc', 'def'],
          ['abc', 'abc'],
          ['', 'abc'],
        ]) {
          const parameters = values.map((value) => ['project', value] as const);
          expectFault(await form.ask(site, { key, parameters }), { reason: 'invalidParameter', parameter: 'project' });
        }
      }
    },
  },
  'masks what the key, the endpoint or the header has masked, and nothing for others': {
    not: analyses,
    async holds(form, name) {
      const parameters = of('abc');
      const expected = masked(ROWS.abc);
      const asks: Ask[] = [
        ...['true', 'TRUE', 'false, True'].map((value) => ({
          key: 'open',
          headers: { 'LF-ENDPOINT-REDACT-PII': value },
        })),
        { key: 'open', headers: { 'lf-endpoint-redact-pii': 'true' } },
        { key: 'masked-sql', headers: { 'LF-ENDPOINT-REDACT-PII': 'false' } },
        { key: 'masked-sql', endpoint: 'forms.masked' },
        ...(form.of === 'stored' ? [{ key: 'masked' }, { key: 'open', endpoint: 'forms.masked' }] : []),
      ];
      // Each export of Parquet is a process: the header is read there as anywhere.
      const one = name === 'an export of Parquet' && form.of === 'stored';
      for (const ask of one ? [asks[0]!, ...asks.slice(-2)] : asks) {
        expectRows(form, await form.ask(site, { key: 'open', parameters }), ROWS.abc);
        const told = await form.ask(site, { ...ask, parameters });
        expectRows(form, told, expected);
        for (const secret of SECRETS) expect(told.bytes).not.toContain(secret);
      }
    },
  },
  'refuses a redaction header of another value': {
    not: analyses,
    async holds(form) {
      const told = await form.ask(site, {
        key: 'open',
        parameters: of('abc'),
        headers: { 'LF-ENDPOINT-REDACT-PII': 'yes' },
      });
      expectFault(told, { reason: 'invalidParameter', parameter: 'LF-ENDPOINT-REDACT-PII' });
    },
  },
  'refuses queries behind a forced mask': {
    not: stored,
    async holds(form) {
      const fault = { reason: 'accessDenied', parameter: form.of };
      expectFault(await form.ask(site, { key: 'masked', parameters: of('abc') }), fault);
      expectFault(await form.ask(site, { key: 'open', endpoint: 'forms.masked', parameters: of('abc') }), fault);
    },
  },
  'refuses a key that is unknown, expired or none, and one in the URL': {
    async holds(form) {
      for (const key of ['nobody', 'OPEN', 'expired', '']) {
        const parameters = [
          ['project', 'abc'],
          ['api_key', 'open'],
          ['X-API-KEY', 'open'],
        ] as const;
        expectFault(await form.ask(site, { key, parameters }), { reason: 'unauthenticated' });
      }
    },
  },
  'is there for a key whose list names the endpoint, and not for another': {
    async holds(form) {
      const parameters = of('abc');
      expectRows(form, await form.ask(site, { key: 'listed', parameters }), ROWS.abc);
      expectRows(form, await form.ask(site, { key: 'listed-by-id', parameters }), ROWS.abc);
      for (const key of ['listed-in-another-case', 'listed-another', 'pinned-otherwise']) {
        expectFault(await form.ask(site, { key, parameters }), { reason: 'notFound' });
      }
      expectFault(await form.ask(site, { key: 'listed', parameters, endpoint: 'forms.masked' }), {
        reason: 'notFound',
      });
    },
  },
  'takes the endpoint’s id in any case, and its name in its own alone': {
    not: { 'a tool of its own': 'Its name is that of the endpoint.' },
    async holds(form) {
      const parameters = of('abc');
      for (const name of [ID, ID.toUpperCase()]) {
        expectRows(form, await form.ask(site, { key: 'listed', parameters, endpoint: name }), ROWS.abc);
      }
      expectFault(await form.ask(site, { key: 'open', parameters, endpoint: 'Forms.rows' }), { reason: 'notFound' });
    },
  },
  'counts against the rate of its key': {
    async holds(form, name) {
      const key = `rated-${String(Object.keys(FORMS).indexOf(name))}`;
      const parameters = of('abc');
      // What is made ready for it counts, too.
      if (form.requests === 1) expectRows(form, await form.ask(site, { key, parameters }), ROWS.abc);
      expectFault(await form.ask(site, { key, parameters }), { reason: 'rateLimitExceeded' });
    },
  },
  'gives as many rows as the endpoint allows, and says so where there is one more': {
    not: analyses,
    async holds(form, name) {
      expect((await form.ask(site, { key: 'open', parameters: of('abc') })).truncated).toBe(false);
      const told = await form.ask(site, { key: 'open', parameters: of('def') });
      if (name.startsWith('an export')) {
        expect(told.error?.reason).toBe(name === 'an export of Parquet' ? 'resourcesExceeded' : 'broken off');
        return;
      }
      // One row, and then those of a whole page.
      const isLast = name === 'a following page';
      expect([told.error, told.rows?.length]).toEqual([null, isLast ? MOST + 1 : MOST]);
      if (!name.startsWith('a tail')) expect(told.truncated).toBe(!isLast);
    },
  },
  'takes a page of as many rows as the endpoint allows, and of no more': {
    not: because(
      those((_form, name) => !name.endsWith('page')),
      'It is no page.',
    ),
    async holds(form) {
      for (const size of ['0', '-1', '1.5', String(MOST + 1)]) {
        const parameters = [
          ['project', 'abc'],
          ['page_size', size],
        ] as const;
        expectFault(await form.ask(site, { key: 'open', parameters }), {
          reason: 'invalidParameter',
          parameter: 'page_size',
        });
      }
    },
  },
  'finds tables and columns in any case': {
    not: because(
      those(({ of: whose }) => whose !== 'sql'),
      'LQL is case-sensitive, and a stored query is not the caller’s.',
    ),
    async holds(form) {
      const text = 'SELECT E.ID AS id, `EVENT_message` AS event_message FROM Events AS e WHERE EVENT_MESSAGE <> ""';
      expectRows(form, await form.ask(site, { key: 'pinned', text }), ROWS.abc);
    },
  },
  'says what is wrong with a query, and where': {
    not: stored,
    async holds(form) {
      const [text, fault] =
        form.of === 'sql'
          ? ['SELECT id,\n  nope FROM events', { reason: 'unknownField', line: 2, column: 3 }]
          : ['f:events nope:1', { reason: 'unknownField', line: 1, column: 10 }];
      for (const key of ['open', 'pinned'])
        expectFault(await form.ask(site, { key, parameters: of('abc'), text }), fault);
    },
  },
  'lets no query leave the tables of the endpoint': {
    not: stored,
    async holds(form) {
      const text = form.of === 'sql' ? 'SELECT id, event_message FROM raw_edge_logs' : 'f:raw_edge_logs';
      const told = await form.ask(site, { key: 'open', parameters: of('abc'), text });
      expectFault(told, { reason: form.of === 'sql' ? 'sandboxViolation' : 'invalidLql' });
    },
  },
  'takes a query of 65,536 bytes, and no longer one': {
    not: stored,
    async holds(form) {
      const text = (form.of === 'sql' ? 'SELECT id, event_message FROM events' : 'f:events').padEnd(65_536);
      expectRows(form, await form.ask(site, { key: 'open', parameters: of('abc'), text }), ROWS.abc);
      const told = await form.ask(site, { key: 'open', parameters: of('abc'), text: `${text} ` });
      expectFault(told, { reason: 'invalidParameter', parameter: form.of });
    },
  },
  'takes a value of 4,096 characters, and no longer one': {
    async holds(form) {
      const asked = (length: number): Promise<Told> =>
        form.ask(site, {
          key: 'open',
          parameters: [
            ['project', 'abc'],
            ['note', 'n'.repeat(length)],
          ],
        });
      expectRows(form, await asked(4096), ROWS.abc);
      expectFault(await asked(4097), { reason: 'invalidParameter', parameter: 'note' });
    },
  },
  'takes 256 parameters, and no more': {
    async holds(form) {
      const count = (most: number): Pairs =>
        Array.from({ length: most }, (_, i): readonly [string, Json] =>
          i === 0 ? ['project', 'abc'] : [`p${String(i)}`, 'x'],
        );
      // Those of the form count, too.
      expectRows(form, await form.ask(site, { key: 'open', parameters: count(256 - form.own) }), ROWS.abc);
      expectFault(await form.ask(site, { key: 'open', parameters: count(257 - form.own) }), {
        reason: 'invalidParameter',
      });
    },
  },
  'asks again where a run has failed': {
    not: analyses,
    async holds(form) {
      const asked = (note: string): Promise<Told> =>
        form.ask(site, {
          key: 'open',
          endpoint: 'forms.failing',
          parameters: [
            ['project', 'abc'],
            ['note', note],
          ],
        });
      for (let i = 0; i < 2; i++) expectFault(await asked('zero'), { reason: 'invalidQuery' });
      expectRows(form, await asked('one'), ROWS.abc);
      expectFault(await asked('zero'), { reason: 'invalidQuery' });
    },
  },
  'exports for keys that may alone': {
    async holds(form, name) {
      const told = await form.ask(site, { key: 'without-exports', parameters: of('abc') });
      if (name.startsWith('an export')) expectFault(told, { reason: 'accessDenied', parameter: 'export' });
      else expectRows(form, told, ROWS.abc);
    },
  },
  'is kept by nobody but its caller, and by none where it is sent as it is read': {
    async holds(form) {
      const { headers } = await form.ask(site, { key: 'open', parameters: of('abc') });
      expect(headers['cache-control']).toMatch(form.kept ? /^private, max-age=\d+$/ : /no-store|^private, no-cache$/);
      if (form.kept) expect(headers.vary).toMatch(/\bX-API-KEY\b.*\bAuthorization\b/i);
      if (!form.kept) expect(headers['cache-status'] ?? '').not.toContain('hit');
    },
  },
  'gives no 304 for what another key or another mask was answered': {
    not: because(
      those(({ kept }) => !kept),
      'It has no ETag, or one that nobody keeps.',
    ),
    async holds(form) {
      const { headers } = await form.ask(site, { key: 'open', parameters: of('def') });
      const again = { 'If-None-Match': headers.etag ?? '' };
      expectRows(form, await form.ask(site, { key: 'pinned', headers: again }), ROWS.abc);
      const told = await form.ask(site, {
        key: 'open',
        parameters: of('def'),
        headers: { ...again, 'LF-ENDPOINT-REDACT-PII': 'true' },
      });
      expect([told.rows?.length, told.headers.etag === headers.etag]).toEqual([MOST, false]);
    },
  },
  'is logged with key and endpoint, and with no value': {
    async holds(form, name) {
      const id = `forms-${String(Object.keys(FORMS).indexOf(name))}`;
      const value = 'what-nobody-may-log';
      const text =
        form.of === 'sql' ? `SELECT id, event_message FROM events WHERE id <> '${value}'` : `f:events -id:${value}`;
      const parameters = [
        ['project', 'abc'],
        ['note', value],
        [value, value],
      ] as const;
      const own = form.of === 'stored' ? {} : { text };
      await form.ask(site, { key: 'open', parameters, ...own, headers: { 'X-Request-Id': id } });
      const lines = (): string[] => service.err.split('\n').filter((line) => line.includes(`"${id}"`));
      await until(() => lines().length === form.requests);
      for (const line of lines()) expect(JSON.parse(line)).toMatchObject({ key: 'open', endpoint: 'forms.rows' });
      expect(service.err).not.toContain(value);
    },
  },
};

describe.each(Object.entries(PROMISES))('each form %s', (_, { not = {}, holds }) => {
  const names = those((_form, name) => not[name] === undefined);
  it.each(names)('%s', (name) => holds(FORMS[name], name));
});

/** Goes on from a place, or gives the first; null: it is refused. */
const PLACES = {
  async page(token: string, { key = 'open', query = {}, headers = {} }: Asked): Promise<string | null> {
    const given = { project: 'def', page_size: '1', ...(token === '' ? {} : { page_token: token }), ...query };
    const { error, bytes } = await FORMS['a GET'].ask(site, { key, parameters: Object.entries(given), headers });
    if (error === null) return /"next_page_token":"([^"]+)"/.exec(bytes)?.[1] ?? '';
    expect(error).toMatchObject({ reason: 'invalidParameter', parameter: 'page_token' });
    return null;
  },
  async tail(id: string, { key = 'open', query = {}, headers = {} }: Asked): Promise<string | null> {
    const last = id === '' ? {} : { 'Last-Event-ID': id };
    const client = await EventClient.opened({
      port: site.port,
      path: `/api/endpoints/tail/forms.rows?${new URLSearchParams({ project: 'def', ...query }).toString()}`,
      headers: { 'X-API-KEY': key, Accept: 'text/event-stream', ...last, ...headers },
    });
    await (client.status === 200 ? until(() => client.lastId !== '') : client.closed);
    client.leave();
    if (client.status === 200) return client.lastId;
    expect(client.text).toContain('"Last-Event-ID"');
    return null;
  },
} as const;

interface Asked {
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const PLACED = ['page', 'tail'] as const;
const places: Record<string, string> = {};

it.each(PLACED)('a place of a %s is good for the request and the key that it was given to', async (form) => {
  const place = (await PLACES[form]('', {})) ?? '';
  places[form] = place;
  expect(await PLACES[form](place, {})).not.toBeNull();
  const others: readonly Asked[] = [
    { key: 'listed' },
    { query: { project: 'abc' } },
    { query: { note: 'x' } },
    { query: { timestamps: 'iso' } },
    { headers: { 'LF-ENDPOINT-REDACT-PII': 'true' } },
  ];
  for (const other of others) expect(await PLACES[form](place, other)).toBeNull();
});

/** Parameters of a key whose pin may change. */
const projectOf = (rights: object | undefined): Pairs => (rights !== undefined && 'pins' in rights ? [] : of('abc'));

describe('what changes while the service runs', () => {
  // Everything that may be remembered of a request is there.
  it.each(those(() => true))('is as it was before for %s', async (name) => {
    for (const [key, { before }] of Object.entries(CHANGES)) {
      expectRows(FORMS[name], await FORMS[name].ask(site, { key, parameters: projectOf(before) }), ROWS.abc);
    }
  });

  it('is taken up', async () => {
    const before = service.err.split('the keys file was taken up').length;
    writeKeys({ ...KEYS, ...changed('after') });
    await until(() => service.err.split('the keys file was taken up').length > before);
  });

  it.each(those(() => true))('counts for %s: keys', async (name) => {
    const form = FORMS[name];
    for (const [key, { after, gives }] of Object.entries(CHANGES)) {
      const told = await form.ask(site, { key, parameters: projectOf(after) });
      if (Array.isArray(gives)) expectRows(form, told, gives);
      else expectFault(told, gives);
    }
  });

  it('is taken up of a file', async () => {
    writeQuery(site.folder, " AND id <> 'abc-0'");
    await until(async () => {
      const { rows } = await FORMS.SQL.ask(site, { key: 'open', parameters: of('abc') });
      return rows?.length === MOST - 1;
    });
  });

  it.each(those(() => true))('counts for %s: the stored query', async (name) => {
    for (const key of ['open', 'pinned']) {
      expectRows(FORMS[name], await FORMS[name].ask(site, { key, parameters: of('abc') }), ROWS.abc.slice(1));
    }
  });
});

it.each(PLACED)('a place of a %s is not good for another stored query', async (form) => {
  expect(await PLACES[form](places[form] ?? '', {})).toBeNull();
});

it('gives those who listen their own rows alone, masked for whom they have to be', async () => {
  const asked: readonly (readonly [string, object, Readonly<Record<string, string>>, string[]])[] = [
    ['open', { project: 'abc' }, {}, ['abc-new 10.1.2.3']],
    ['open', { project: 'abc' }, { 'LF-ENDPOINT-REDACT-PII': 'true' }, ['abc-new REDACTED']],
    ['open', { project: 'def' }, {}, ['def-new 10.1.2.3']],
    ['pinned', {}, {}, ['abc-new 10.1.2.3']],
    ['pinned', { Project: 'def', sql: TEXT }, {}, ['abc-new 10.1.2.3']],
    ['masked', { project: 'abc' }, {}, ['abc-new REDACTED']],
    ['masked-sql', { project: 'def', sql: TEXT }, {}, ['def-new REDACTED']],
    ['masked-sql', { project: 'def', lql: 'f:events' }, {}, ['def-new REDACTED']],
  ];
  const clients = await Promise.all(
    asked.map(([key, query, headers]) =>
      EventClient.opened({
        port: site.port,
        path: `/api/endpoints/tail/forms.rows?${new URLSearchParams({ ...query }).toString()}`,
        headers: { 'X-API-KEY': key, Accept: 'text/event-stream', ...headers },
      }),
    ),
  );
  const row = (project: string): string =>
    JSON.stringify({ timestamp: '2026-11-22T11:00:00Z', id: `${project}-new`, project, event_message: '10.1.2.3' });
  appendFileSync(path.join(site.folder, 'data/raw_events.ndjson'), `${row('def')}\n${row('abc')}\n`);
  await until(() => clients.every(({ rows }) => rows.length > 0));
  const given = clients.map(({ rows }) =>
    rows.map((each) => JSON.parse(each) as { id: string; event_message: string }),
  );
  for (const client of clients) client.leave();
  expect(given.map((rows) => rows.map(({ id, event_message }) => `${id} ${event_message}`))).toEqual(
    asked.map(([, , , rows]) => rows),
  );
});
