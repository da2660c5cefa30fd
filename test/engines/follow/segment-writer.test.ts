/** Segments, written by every way there is: the same rows, each once. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

import { Watch } from '../../../src/engines/duckdb/data/conversion-progress';
import { describedTables } from '../../../src/engines/duckdb/data/schemas';
import { ExactLines } from '../../../src/engines/duckdb/data/exact-lines';
import { listsValue } from '../../../src/engines/duckdb/data/single-lists';
import { START } from '../../../src/engines/duckdb/follow/records';
import type { Progress, SegmentJob, SegmentResult } from '../../../src/engines/duckdb/follow/segment-job';
import { writeSegment } from '../../../src/engines/duckdb/follow/segment-writer';
import { memoryShares } from '../../../src/engines/duckdb/process/memory-shares';
import { quoteName, quoteText } from '../../../src/engines/duckdb/sql';
import type { RestField } from '../../../src/googlesql/rest-schema';

jest.setTimeout(60_000);

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
const FIXTURE = path.join(__dirname, '../../fixture');
const RESOURCES = { threads: 1, rowGroup: 2048 };
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

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-segments-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: readonly Row[]): void {
  writeFileSync(path.join(folder, name), content.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

type Stored = SegmentJob['merged'][number];
interface Bounds extends Pick<SegmentJob, 'atOnce' | 'most'> {
  readonly memory: string;
}

/** Read, and then sorted; at once; chunk by chunk; and so that a conversion ends in between. */
const WAYS = {
  staged: { memory: '128MB', atOnce: 1e9, most: 1e9 },
  whole: { memory: '256MB', atOnce: 1e9, most: 1e9 },
  chunks: { memory: '256MB', atOnce: 200_000, most: 1e9 },
  jobs: { memory: '256MB', atOnce: 200_000, most: 500_000 },
} satisfies Readonly<Record<string, Bounds>>;

interface Outcome {
  readonly segments: readonly Stored[];
  readonly leftOut: SegmentResult['leftOut'][];
}

let jobs = 0;

async function run(
  job: Pick<SegmentJob, 'ranges' | 'merged' | 'others'> & Partial<Pick<SegmentJob, 'fields'>>,
  { memory, ...bounds }: Bounds,
): Promise<SegmentResult & { path: string }> {
  const own = path.join(folder, `job-${jobs++}`);
  mkdirSync(own);
  const target = path.join(own, 'segment.duckdb');
  const whole = { table: 'logs', fields: FIELDS, declared: true, ...job, ...bounds, path: target, folder: own };
  return { ...(await writeSegment(whole, { memory, ...RESOURCES }, new Watch('logs', () => undefined))), path: target };
}

/** Converts files as a table does: until nothing of them is left. */
async function convert(names: readonly string[], bounds: Bounds): Promise<Outcome> {
  const progress = new Map<string, Progress & { readonly whole: boolean }>();
  const segments: Stored[] = [];
  const leftOut: SegmentResult['leftOut'][] = [];
  for (let left = 100; left > 0; left--) {
    const ranges = names.flatMap((name, i) => {
      const file = path.join(folder, name);
      const { dev, ino } = statSync(file, { bigint: true });
      const from = progress.get(name) ?? { position: START, digest: { chain: '', rest: '' }, whole: false };
      if (from.whole) return [];
      const common = { format: 'lines', compression: 'none', to: null, closed: false } as const;
      return [{ source: i + 1, path: file, identity: `${dev}:${ino}`, from, ...common }];
    });
    if (ranges.length === 0) return { segments, leftOut };
    const result = await run({ ranges, merged: [], others: segments }, bounds);
    expect(result).toMatchObject({ changed: [], faults: {} });
    for (const [source, end] of Object.entries(result.ends)) progress.set(names[Number(source) - 1]!, end);
    if (result.segment !== null) {
      segments.push({ path: result.path, segment: { file: 'segment.duckdb', ...result.segment }, dropped: [] });
    }
    leftOut.push(result.leftOut);
  }
  throw new Error('The files are never stored.');
}

/** The rows of segments, with lists, in their order. */
async function stored(segments: readonly Stored[]): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const found: unknown[] = [];
  for (const [i, { path: file, segment }] of segments.entries()) {
    await connection.run(`ATTACH ${quoteText(file)} AS s${i} (READ_ONLY)`);
    const columns = (single: readonly string[]) =>
      FIELDS.map((one) => `${listsValue(one, new Set(single))} AS ${quoteName(one.name)}`).join(', ');
    const inputs = [`SELECT ${columns(segment.single)} FROM s${i}.rows`];
    if (segment.odd > 0) inputs.push(`SELECT ${columns([])} FROM s${i}.odd`);
    for (const input of inputs) {
      const reader = await connection.runAndReadAll(`SELECT to_json(t)::VARCHAR FROM (${input}) AS t`);
      found.push(...reader.getRows().map(([text]) => JSON.parse(text as string)));
    }
    expect((await connection.runAndReadAll(`FROM (${inputs.join(' UNION ALL ')})`)).currentRowCount).toBe(segment.rows);
  }
  instance.closeSync();
  return found;
}

const byText = (found: readonly unknown[]): string[] => found.map((one) => JSON.stringify(one)).sort();

interface Case {
  readonly files: Readonly<Record<string, readonly Row[]>>;
  /** Rows that are left out. */
  readonly leftOut?: number;
  /** Lists that are stored as their element in all segments of the way by chunks; default: those that are in each row. */
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
    for (const [name, content] of Object.entries(files)) write(name, content);
    const names = Object.keys(files);
    const expected = byText(await stored((await convert(names, WAYS.staged)).segments));
    expect(expected).toHaveLength(Object.values(files).flat().length - leftOut);
    for (const [way, bounds] of Object.entries(WAYS)) {
      const outcome = await convert(names, bounds);
      expect([way, byText(await stored(outcome.segments))]).toEqual([way, expected]);
      expect(outcome.leftOut.reduce((sum, one) => sum + Object.values(one.rows).reduce((a, b) => a + b, 0), 0)).toBe(
        leftOut,
      );
      for (const { segment } of outcome.segments) expect([...segment.single].sort()).toEqual(single);
    }
  });
});

describe('chunks', () => {
  it('come into one segment, each the last row first', async () => {
    write('a.ndjson', rows(ROWS));
    const { segments } = await convert(['a.ndjson'], WAYS.chunks);
    expect(segments).toHaveLength(1);
    const times = (await stored(segments)).map((one) => Date.parse(`${(one as { timestamp: string }).timestamp}Z`));
    const starts = times.flatMap((time, i) => (i === 0 || time > times[i - 1]! ? [i] : []));
    expect(starts.length).toBeGreaterThan(4);
    expect(segments[0]!.segment).toMatchObject({
      rows: ROWS,
      odd: 0,
      earliest: String(1_790_000_000_000n * 1000n),
      latest: String((1_790_000_000_000n + BigInt(ROWS - 1) * 1000n) * 1000n),
    });
  });

  it('end a conversion where enough has been read', async () => {
    write('a.ndjson', rows(ROWS));
    const { segments } = await convert(['a.ndjson'], WAYS.jobs);
    expect(segments.length).toBeGreaterThan(1);
    for (const { segment } of segments.slice(0, -1)) expect(segment.rows).toBeGreaterThan(400);
  });
});

it('stores rows that are as wide as they may be, of a size that the least memory is said to take', async () => {
  const { conversion, convertedBytes: atOnce } = memoryShares('256MB', 2, true);
  const fields = (await describedTables(FIXTURE)).get('raw_edge_logs')!;
  const headers = Array.from({ length: 105 }, () => ({ x_real_ip: 'a' }));
  write(
    'wide',
    rows(3_000).map((one) => ({ ...one, metadata: [{ request: [{ headers }], response: [{ status_code: 200 }] }] })),
  );
  const file = path.join(folder, 'wide');
  const { dev, ino } = statSync(file, { bigint: true });
  const from = { position: START, digest: { chain: '', rest: '' } };
  const common = { source: 1, format: 'lines', compression: 'none', to: null, closed: false } as const;
  const ranges = [{ ...common, path: file, identity: `${dev}:${ino}`, from }];
  const bounds = { memory: conversion.memory, atOnce, most: atOnce };
  const result = await run({ ranges, merged: [], others: [], fields }, bounds);
  expect(result).toMatchObject({ changed: [], faults: {}, leftOut: { rows: {} } });
  expect(result.segment!.rows).toBeGreaterThan(500);
});

it('reads each line closely where DuckDB refuses one that looked exact', async () => {
  write('a.ndjson', rows(30));
  appendFileSync(path.join(folder, 'a.ndjson'), 'none\n');
  const looks = jest.spyOn(ExactLines.prototype, 'has').mockReturnValue(true);
  const { segments, leftOut } = await convert(['a.ndjson'], WAYS.whole);
  expect(looks).toHaveBeenCalledTimes(31);
  looks.mockRestore();
  expect(await stored(segments)).toHaveLength(30);
  expect(leftOut).toMatchObject([{ rows: { not_json: 1 }, first: [{ line: 31 }] }]);
});

describe('merged segments', () => {
  const merge = async (merged: readonly Stored[]): Promise<Stored> => {
    const result = await run({ ranges: [], merged, others: [] }, WAYS.whole);
    return { path: result.path, segment: { file: 'segment.duckdb', ...result.segment! }, dropped: [] };
  };
  const parts = async (...contents: readonly (readonly Row[])[]): Promise<Stored[]> => {
    const all: Stored[] = [];
    for (const [i, content] of contents.entries()) {
      write(`${i}.ndjson`, content);
      all.push(...(await convert([`${i}.ndjson`], WAYS.whole)).segments);
    }
    return all;
  };

  it.each([
    ['one after the other', [rows(500), rows(500, 500), rows(500, 1_000)]],
    ['at the same time', [rows(900).filter((_, i) => i % 2 === 0), rows(900).filter((_, i) => i % 2 === 1)]],
    ['with other lists', [rows(400), rows(400, 400).map((one) => ({ ...one, metadata: [] }))]],
    ['with a few other lists', [rows(400), [...rows(400, 400), row(800, { metadata: [] })]]],
  ] as const)('%s hold the rows of all, the last first', async (_, contents) => {
    const before = await parts(...contents);
    const after = await merge(before);
    const found = await stored([after]);
    expect(byText(found)).toEqual(byText(await stored(before)));
    const inOrder = found.slice(0, after.segment.rows - after.segment.odd) as { timestamp: string }[];
    expect(inOrder.map(({ timestamp }) => timestamp)).toEqual(
      inOrder
        .map(({ timestamp }) => timestamp)
        .sort()
        .reverse(),
    );
  });

  it('leave out rows of sources that are gone', async () => {
    const [first, second] = await parts(rows(300), rows(300, 300));
    const after = await merge([{ ...first!, dropped: [1] }, second!]);
    expect(byText(await stored([after]))).toEqual(byText(await stored([second!])));
  });
});
