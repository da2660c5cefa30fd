import { type Segment, SegmentsOfTable } from '../../src/follow/segment';

const MIB = 1024 * 1024;
const HOUR = 3_600_000_000n;
const FIELDS: Segment['fields'] = [{ name: 'id', type: 'STRING', mode: 'NULLABLE', fields: [] }];

/** A segment of an hour. */
function segment(hour: number, changed: Partial<Segment> = {}): Segment {
  return {
    time: null,
    file: `${hour}.duckdb`,
    rows: 100_000,
    odd: 0,
    bytes: 16 * MIB,
    earliest: String(BigInt(hour) * HOUR),
    latest: String(BigInt(hour + 1) * HOUR),
    sources: { 1: 100_000 },
    fields: FIELDS,
    single: ['metadata'],
    arrived: null,
    before: 0,
    ...changed,
  };
}

const hours = (count: number, changed?: Partial<Segment>): Segment[] =>
  Array.from({ length: count }, (_, hour) => segment(hour, changed));

/** Files that are merged where so many bytes can be sorted. */
const merged = (segments: readonly Segment[], most: number): string[] =>
  new SegmentsOfTable(segments, (source) => source === 1).mergeable(most, FIELDS).map(({ file }) => file);

const files = (count: number): string[] => hours(count).map(({ file }) => file);

it.each([
  ['fewer than eight', hours(7), 1_000 * MIB, 0],
  ['one after the other, as many as are written in seconds', hours(9), 24 * MIB, 6],
  ['one after the other, so large that half of them can be written in seconds', hours(9), 16 * MIB, 4],
  ['one after the other, so large that fewer can be written in seconds', hours(9), 15 * MIB, 0],
  ['one after the other, where little can be sorted, two', hours(9, { bytes: 3 * MIB }), 7 * MIB, 2],
  ['one after the other, where next to nothing can be sorted', hours(9), 7 * MIB, 0],
  ['one after the other, where much can be sorted', hours(9), 1_000 * MIB, 8],
  ['at the same time, as many as can be sorted', hours(9, { earliest: '0', latest: '10' }), 90 * MIB, 5],
  ['at the same time, of which fewer than four can be sorted', hours(9, { earliest: '0', latest: '10' }), 60 * MIB, 0],
  ['at the same time, too large to be sorted', hours(9, { earliest: '0', latest: '10' }), 24 * MIB, 0],
  ['without times', hours(9, { earliest: null, latest: null }), 24 * MIB, 0],
  ['with rows of other lists', [...hours(8, { odd: 1 })], 24 * MIB, 0],
  ['with fields of before', hours(9, { fields: [] }), 24 * MIB, 0],
  ['that are large already', hours(9, { rows: 1_500_000, sources: { 1: 1_500_000 } }), 1_000 * MIB, 0],
])('segments %s are merged as far as that is worth it', (_, segments, most, count) => {
  expect(merged(segments, most)).toEqual(files(count));
});

it('segments that are too large to be sorted together keep no others from being merged', () => {
  const overlapping = { earliest: '0', latest: '10' };
  const [large, small] = [hours(8, overlapping), hours(16, { ...overlapping, bytes: 4 * MIB }).slice(8)];
  expect(merged([...large, ...small], 24 * MIB)).toEqual(small.slice(0, 6).map(({ file }) => file));
});

it('a segment of which less than half counts is written anew', () => {
  const sparse = segment(3, { sources: { 1: 10_000, 2: 90_000 } });
  expect(merged([segment(0), sparse, segment(5)], 24 * MIB)).toEqual(['3.duckdb']);
});
