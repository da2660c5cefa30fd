/** What identifies a thing: each of its parts, changed alone, makes another one of it; what is none of its parts makes none. */
import { mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { StoredAnalyses, storedQueryOf } from '../../src/analysis/stored-analyses';
import { identify, type Question } from '../../src/cache/stores';
import { listQueries } from '../../src/endpoints/directory';
import { SchemaFile } from '../../packages/duckdb-engine/src/data/schemas';
import { scanFolder } from '../../packages/duckdb-engine/src/follow/folder-scan';
import { ServiceError } from '../../src/errors';
import { openKeyRing } from '../../src/keys/key-ring';
import { hashOf } from '../../src/keys/key';
import { CteColumns } from '../../src/sandbox/cte-columns';
import { Verdicts } from '../../src/sandbox/verdicts';
import { ENDPOINTS, ScriptedEngine } from '../http/served';
import { until } from '../until';

const A = { name: 'a', type: 'STRING', value: '1' } as const;
const B = { name: 'b', type: 'ARRAY<STRING>', value: ['1', '2'] } as const;

const QUESTION: Question = {
  endpointId: '11111111-aaaa-4000-8000-000000000001',
  revision: 'r',
  target: 't',
  parameters: [A, B],
  query: { language: 'sql', text: 'SELECT 1' },
  redacted: false,
  fenced: false,
  representation: 'text/csv',
  isoTimestamps: false,
  escapeFormulas: true,
};

describe('a result in the cache', () => {
  const OTHERS: readonly (readonly [part: string, other: Partial<Question>])[] = [
    ['endpoint', { endpointId: '11111111-aaaa-4000-8000-000000000002' }],
    ['revision', { revision: 's' }],
    ['engine and data', { target: 'u' }],
    ['value of a parameter', { parameters: [{ ...A, value: '2' }, B] }],
    ['case of a value', { parameters: [{ ...A, value: 'A' }, B] }],
    ['lower case of a value', { parameters: [{ ...A, value: 'a' }, B] }],
    ['type of a parameter', { parameters: [{ ...A, type: 'INT64' }, B] }],
    ['name of a parameter', { parameters: [{ ...A, name: 'c' }, B] }],
    ['order of a list', { parameters: [A, { ...B, value: ['2', '1'] }] }],
    ['length of a list', { parameters: [A, { ...B, value: ['1'] }] }],
    ['a list whose text is that of another', { parameters: [A, { ...B, value: ['1,2'] }] }],
    [
      'values that have changed places',
      {
        parameters: [
          { ...A, name: 'b' },
          { ...B, name: 'a' },
        ],
      },
    ],
    ['missing parameter', { parameters: [A] }],
    ['text of the query', { query: { language: 'sql', text: 'SELECT 2' } }],
    ['case of the text', { query: { language: 'sql', text: 'select 1' } }],
    ['space in the text', { query: { language: 'sql', text: 'SELECT  1' } }],
    ['language of the query', { query: { language: 'lql', text: 'SELECT 1' } }],
    ['stored query', { query: null }],
    ['redaction', { redacted: true }],
    ['fence', { fenced: true }],
    ['form', { representation: 'application/json' }],
    ['another form', { representation: 'application/x-ndjson' }],
    ['timestamps', { isoTimestamps: true }],
    ['formulas in CSV', { escapeFormulas: false }],
  ];

  it.each(OTHERS)('is another one by its %s', (_, other) => {
    const { text, hash } = identify({ ...QUESTION, ...other });
    const others = [{}, ...OTHERS.map(([, one]) => one).filter((one) => one !== other)];
    expect(others.map((one) => identify({ ...QUESTION, ...one }).hash)).not.toContain(hash);
    expect(text).not.toBe(identify(QUESTION).text);
  });

  it('is the same whatever the order of its parameters, the case of their names, and formulas outside of CSV', () => {
    const parameters = [B, { ...A, name: 'A' }];
    expect(identify({ ...QUESTION, parameters })).toEqual(identify(QUESTION));
    for (const representation of ['application/json', 'application/x-ndjson'] as const) {
      const [on, off] = [true, false].map((escapeFormulas) =>
        identify({ ...QUESTION, representation, escapeFormulas }),
      );
      expect(on).toEqual(off);
    }
  });
});

describe('a verdict of the gate', () => {
  const KEY = { endpointId: 'e', revision: 'r', target: 't', from: 'sql', fenced: false, text: 'x' } as const;
  const accepted = { sql: '', pieces: 0 };

  it('is another one by each of its parts, and the same for another key', async () => {
    const verdicts = new Verdicts<typeof accepted>();
    let checks = 0;
    const check = (): Promise<typeof accepted> => {
      checks++;
      return Promise.resolve(accepted);
    };
    const others = [
      {},
      { endpointId: 'f' },
      { revision: 's' },
      { target: 'u' },
      { from: 'lql' },
      { fenced: true },
      { text: 'X' },
      { text: 'x ' },
    ] as const;
    for (const key of ['one', 'two']) for (const other of others) await verdicts.of({ ...KEY, ...other }, key, check);
    expect(checks).toBe(others.length);
  });

  it.each([
    ['invalidQuery', 1],
    ['sandboxViolation', 1],
    ['unknownField', 2],
    ['resourcesExceeded', 2],
    ['deadlineExceeded', 2],
    ['backendUnavailable', 2],
    ['tooManyConcurrentQueries', 2],
    ['budgetExceeded', 2],
  ] as const)('of the reason %s is looked for %d times in two requests', async (reason, most) => {
    const verdicts = new Verdicts<typeof accepted>();
    let checks = 0;
    const check = (): Promise<never> => {
      checks++;
      return Promise.reject(new ServiceError(reason, 'No.'));
    };
    for (let i = 0; i < 2; i++) await expect(verdicts.of(KEY, 'one', check)).rejects.toMatchObject({ reason });
    expect(checks).toBe(most);
  });
});

describe('what is known of an endpoint', () => {
  const [endpoint] = ENDPOINTS;
  if (endpoint === undefined) throw new Error('No endpoints.');
  const ID = '11111111-aaaa-4000-8000-0000000000ff';

  class Counted extends ScriptedEngine {
    override target: string = 't';
    described = 0;

    override describe(): Promise<readonly []> {
      this.described++;
      return Promise.resolve([]);
    }
  }

  it.each([
    [
      'its columns',
      (engine: Counted) => {
        const columns = new CteColumns(engine);
        return (one: typeof endpoint) => columns.of(storedQueryOf(one), ['t'], LIMITS);
      },
    ],
    [
      'its analysis',
      (engine: Counted) => {
        const analyses = new StoredAnalyses(engine, { columns: () => Promise.reject(new Error('No tables.')) });
        return (one: typeof endpoint) => analyses.of(one, LIMITS);
      },
    ],
  ])('%s: is of its id, revision and data', async (_, open) => {
    const engine = new Counted();
    const ask = open(engine);
    for (const other of [{}, { id: ID }, { revision: 's' }, { name: 'another' }, {}])
      await ask({ ...endpoint, ...other });
    expect(engine.described).toBe(3);
    engine.target = 'u';
    await ask(endpoint);
    expect(engine.described).toBe(4);
  });
});

const LIMITS = { deadline: Infinity, signal: new AbortController().signal };

describe('a file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'logquay-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Ways in which a file becomes another one, each leaving all else as it was as far as that can be. */
  const CHANGES: readonly (readonly [what: string, change: (file: string, text: string) => void])[] = [
    [
      'its content alone, at the same length and time',
      (file, text) => restoring(file, () => writeFileSync(file, text)),
    ],
    ['its length', (file, text) => restoring(file, () => writeFileSync(file, `${text} `))],
    [
      'another file of the same length and time in its place',
      (file, text) =>
        restoring(file, () => {
          writeFileSync(`${file}.new`, text);
          renameSync(`${file}.new`, file);
        }),
    ],
  ];

  /** Does something with a file, and gives it back its time: a whole second, as a text of one may lose what is below. */
  function restoring(file: string, change: () => void): void {
    change();
    utimesSync(file, 1, 1);
  }

  const keysOf = (name: string): string => JSON.stringify({ keys: [{ name, hash: hashOf(name).toString('hex') }] });

  it.each(CHANGES)('of keys is read again after %s', async (_, change) => {
    const keysFile = path.join(folder, 'keys.json');
    restoring(keysFile, () => writeFileSync(keysFile, keysOf('a')));
    const log = { info: () => undefined, warn: () => undefined };
    const options = { apiKey: null, keysFile, keysFileGiven: true, startKeyFile: null, pollEvery: 10, log };
    const ring = await openKeyRing(options);
    const isValid = (secret: string): boolean => ring.find(secret) !== null;
    expect([isValid('a'), isValid('b')]).toEqual([true, false]);
    change(keysFile, keysOf('b'));
    await until(() => isValid('b'));
    expect(isValid('a')).toBe(false);
    ring.close();
  });

  it.each(CHANGES)('of a stored query is another one after %s', async (_, change) => {
    const file = path.join(folder, 'a.sql');
    restoring(file, () => writeFileSync(file, 'SELECT 1'));
    const before = await listQueries(folder);
    expect(await listQueries(folder)).toEqual(before);
    change(file, 'SELECT 2');
    expect(await listQueries(folder)).not.toEqual(before);
  });

  it.each(CHANGES)('of schemas is another one after %s', async (_, change) => {
    const file = path.join(folder, 'schema.json');
    writeFileSync(file, '{"a":1}');
    const schemas = await SchemaFile.of(file);
    utimesSync(file, 1, 1);
    // Its bytes are what they were.
    expect(await schemas.isChanged()).toBe(false);
    change(file, '{"a":2}');
    expect([await schemas.isChanged(), readFileSync(file, 'utf8').trim()]).toEqual([true, '{"a":2}']);
  });

  it('of rows is known by its inode whatever its name, and by length and time whatever its bytes', async () => {
    const file = path.join(folder, 'a.ndjson');
    const scan = async (): Promise<object> => {
      const [found] = (await scanFolder(folder, () => true)).files;
      return { ...found, lookedAt: 0 };
    };
    writeFileSync(file, '{}\n');
    utimesSync(file, 1, 1);
    const before = await scan();
    expect(before).toMatchObject({ path: 'a.ndjson', size: 3, modified: 1_000_000_000n });
    utimesSync(file, 1, 2);
    expect(await scan()).toEqual({ ...before, modified: 2_000_000_000n });
    renameSync(file, `${file}.1`);
    expect(await scan()).toEqual({ ...before, path: 'a.ndjson.1', rotated: true, modified: 2_000_000_000n });
  });
});
