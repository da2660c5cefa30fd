/** Rows, stored by every way there is: the same rows, each once. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Engine } from '../../src/contract/contract';
import { openDatabase, type Database } from '../../src/engine/database';
import type { DuckDbOptions } from '../../src/engine/options';
import { memoryShares } from '../../src/process/memory-shares';
import type { RestField } from '../../../googlesql/src/rest-schema';
import { DataFolder, ndjson, rowsOf } from '../data-folder';
import { eventually } from './eventually';
import { LOG_SCHEMA } from '../../../../src/engines/log-schema';

jest.setTimeout(120_000);

const field = (name: string, type: RestField['type'], mode: RestField['mode'] = 'NULLABLE', fields: RestField[] = []) =>
  ({ name, type, mode, fields }) satisfies RestField;
const FIELDS = [
  field('timestamp', 'TIMESTAMP', 'REQUIRED'),
  field('id', 'STRING', 'REQUIRED'),
  field('metadata', 'RECORD', 'REPEATED', [
    field('status', 'INT64'),
    field('seen', 'TIMESTAMP'),
    field('request', 'RECORD', 'REPEATED', [field('path', 'STRING'), field('tags', 'STRING', 'REPEATED')]),
    field('plain', 'RECORD', 'NULLABLE', [field('n', 'INT64')]),
  ]),
];
/** More than are looked at to see which lists have one element. */
const ROWS = 2_600;

interface Row {
  readonly [name: string]: unknown;
}

/** The row of a number, in order of time. */
function row(i: number, changed: Row = {}): Row {
  const request = [{ path: `/items/${i}/${'x'.repeat(500)}`, tags: i % 3 === 0 ? [] : ['a', `b${i}`] }];
  const plain = i % 5 === 0 ? null : { n: i };
  const seen = new Date(1_700_000_000_000 + i).toISOString();
  return {
    timestamp: new Date(1_790_000_000_000 + i * 1000).toISOString(),
    id: `row-${i}`,
    metadata: [{ status: i % 600, seen, request, plain }],
    ...changed,
  };
}

const rows = (count: number, from = 0): Row[] => Array.from({ length: count }, (_, i) => row(from + i));

/** In the hot file; sealed from there; and read as a backlog at once, piece by piece, and so that a file ends in between. */
const WAYS = {
  hot: {},
  sealed: { tailBytes: 0 },
  whole: { smallFile: 0 },
  pieces: { smallFile: 0, convertedBytes: 200_000 },
  files: { smallFile: 0, convertedBytes: 40_000, conversion: { memory: '128MB', threads: 2, rowGroup: 2048 } },
} satisfies Readonly<Record<string, Partial<DuckDbOptions>>>;

let folder: DataFolder;
afterEach(() => folder.remove());

const SCHEMA = JSON.stringify({ logs: { fields: schemaOf(FIELDS) } });

function schemaOf(fields: readonly RestField[]): unknown[] {
  return fields.map((one) => ({ ...one, ...(one.type === 'RECORD' ? { fields: schemaOf(one.fields) } : {}) }));
}

async function texts(engine: Engine): Promise<string[]> {
  const rows = (await rowsOf(engine, 'SELECT TO_JSON_STRING(t) AS text FROM logs AS t')) as { text: string }[];
  return rows.map(({ text }) => text).sort();
}

const statusOf = (engine: Engine) => engine.dataStatus?.()?.tables.find(({ table }) => table === 'logs');

interface Case {
  readonly files: Readonly<Record<string, readonly Row[]>>;
  /** Rows that are left out. */
  readonly leftOut?: number;
  /** Lists that are stored as their element in the first file; default: those that are in nearly each row. */
  readonly single?: readonly string[];
}

const BOTH = ['metadata', 'metadata.request'];
const request = [{ path: '/', tags: [] }];
const CASES: Readonly<Record<string, Case>> = {
  'rows of one shape': { files: { 'a.ndjson': rows(ROWS) } },
  'several files': { files: { 'a.ndjson': rows(900), 'b.ndjson': rows(1_500, 900), 'c.ndjson': [] } },
  'a longer list behind the first rows': {
    files: {
      'a.ndjson': [
        ...rows(2_500),
        row(2_500, { metadata: [{ request: [...request, ...request] }] }),
        ...rows(299, 2_301),
      ],
    },
  },
  'an empty list behind the first rows': {
    files: { 'a.ndjson': [...rows(2_599), row(2_599, { metadata: [] })] },
  },
  'a list that is not there among the first rows': {
    files: { 'a.ndjson': [...rows(10), { timestamp: '2026-09-30T00:00:00Z', id: 'without' }, ...rows(1_500, 10)] },
  },
  'lists of many lengths': {
    files: { 'a.ndjson': rows(ROWS).map((one, i) => (i % 4 === 0 ? { ...one, metadata: [] } : one)) },
    single: [],
  },
  'a row without an id behind the first rows': {
    files: { 'a.ndjson': [...rows(2_300), row(2_300, { id: undefined }), ...rows(300, 2_301)] },
  },
  'an id that looks like one to be generated': {
    files: { 'a.ndjson': [...rows(100), row(100, { id: '\u0001abc' }), ...rows(100, 101)] },
  },
  'a value that does not fit behind the first rows': {
    files: {
      'a.ndjson': [...rows(2_300), row(2_300, { metadata: [{ status: 1.5, request }] }), ...rows(300, 2_301)],
    },
    leftOut: 1,
  },
};

describe.each(Object.entries(CASES))('%s', (_, { files, leftOut = 0, single = BOTH }) => {
  it('is stored alike by every way', async () => {
    let expected: string[] | null = null;
    for (const [way, options] of Object.entries(WAYS) as [string, Partial<DuckDbOptions>][]) {
      folder = await DataFolder.make({ 'schema.json': SCHEMA });
      for (const [name, content] of Object.entries(files)) await folder.write({ [`logs/${name}`]: ndjson(...content) });
      const engine = await folder.open(options);
      if (way === 'sealed') await eventually(() => expect(statusOf(engine)?.conversions).toBeGreaterThan(0));
      const found = await texts(engine);
      expected ??= found;
      expect(found).toHaveLength(Object.values(files).flat().length - leftOut);
      expect([way, found]).toEqual([way, expected]);
      expect(Object.values(statusOf(engine)?.leftOut ?? {}).reduce((sum, count) => sum + count, 0)).toBe(leftOut);
      expect(statusOf(engine)).toMatchObject({ arrived: found.length, rows: found.length, faults: 0 });
      await engine.close();
      if (way !== 'hot') expect([way, await singleOfFirst(options)]).toEqual([way, single]);
      await folder.remove();
    }
  });
});

/** Lists that are stored as their element, of the first part. */
async function singleOfFirst(options: Partial<DuckDbOptions>): Promise<string[]> {
  const { dataDir, cacheDir, log } = folder;
  const database: Database = await openDatabase({
    declared: LOG_SCHEMA,
    dataDir,
    cacheDir,
    log,
    now: null,
    ...options,
  });
  const tables = database.data.acquire();
  const [first] = tables.find('logs')?.parts ?? [];
  tables.release();
  await database.close();
  (await database.instance).closeSync();
  return [...(first?.single ?? [])].sort();
}

it('Rows that are as wide as they may be are stored by the least memory', async () => {
  const shares = memoryShares('256MB', 2, true);
  const { queries: memory, conversion, convertedBytes, tailBytes, tailMemory } = shares;
  const edge = JSON.parse(readFileSync(path.join(__dirname, '../../../../test/fixture/schema.json'), 'utf8')) as {
    raw_edge_logs: unknown;
  };
  const headers = Array.from({ length: 105 }, () => ({ x_real_ip: 'a' }));
  const wide = rows(3_000).map((one) => ({
    ...one,
    metadata: [{ request: [{ headers }], response: [{ status_code: 200 }] }],
  }));
  for (const smallFile of [0, 2 ** 26]) {
    folder = await DataFolder.make({ 'schema.json': JSON.stringify({ logs: edge.raw_edge_logs }) });
    await folder.write({ 'logs.ndjson': ndjson(...wide) });
    const own = { memory, conversion, convertedBytes, tailBytes, tailMemory, smallFile };
    const engine = await folder.open({ ...own, threads: 2 });
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT COUNT(*) AS n FROM logs')).toEqual([{ n: 3_000 }]),
    );
    expect(engine.dataStatus?.()?.degraded).toBeNull();
    expect(statusOf(engine)?.leftOut).toEqual({});
    await folder.remove();
  }
});

describe('Merged files', () => {
  it.each([
    ['one after the other', (i: number) => rows(300, 300 * i)],
    ['at the same time', (i: number) => rows(2_400).filter((_, k) => k % 8 === i)],
    [
      'with other lists',
      (i: number) => rows(200, 200 * i).map((one) => (i % 2 === 0 ? one : { ...one, metadata: [] })),
    ],
    ['with a few other lists', (i: number) => [...rows(300, 300 * i), row(300 * i, { id: `x${i}`, metadata: [] })]],
  ] as const)('%s hold the rows of all', async (_, contentOf) => {
    folder = await DataFolder.make({ 'schema.json': SCHEMA });
    const engine = await folder.open({ smallFile: 0, conversion: { memory: '256MB', threads: 1, rowGroup: 2048 } });
    const all: Row[] = [];
    for (let i = 0; i < 8; i++) {
      all.push(...contentOf(i));
      await folder.write({ [`logs/${i}.ndjson`]: ndjson(...contentOf(i)) });
      await eventually(async () =>
        expect(await rowsOf(engine, 'SELECT COUNT(*) AS n FROM logs')).toEqual([{ n: all.length }]),
      );
    }
    const before = await texts(engine);
    await eventually(() => expect(statusOf(engine)?.conversions).toBeGreaterThan(8));
    expect(await texts(engine)).toEqual(before);
    expect(new Set(before).size).toBe(all.length);
  });
});
