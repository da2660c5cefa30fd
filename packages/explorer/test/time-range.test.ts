import { OFFERED, boundsOf, readRange, shifted, widened, writeRange } from '../src/time-range';

const NOW = Date.parse('2026-09-30T12:00:00Z');

it('reads what it writes', () => {
  for (const text of [
    ...OFFERED.map(([one]) => one),
    '90s',
    '36h',
    '2026-09-30T11:00:00.000Z/2026-09-30T11:30:00.500Z',
  ]) {
    const range = readRange(text);
    expect([text, range === null ? null : readRange(writeRange(range))]).toEqual([text, range]);
    expect(range).not.toBeNull();
  }
});

it.each(['', '0m', '5', '5x', '99999999d', 'a/b', '2026-09-30T11:00:00Z/2026-09-30T11:00:00Z', '/', 'x'.repeat(500)])(
  'refuses %j',
  (text) => {
    expect(readRange(text)).toBeNull();
  },
);

it('ends a relative range now, and moves any by its length', () => {
  const range = readRange('15m');
  if (range === null) throw new Error('It was not read.');
  expect(boundsOf(range, NOW)).toEqual({ start: NOW - 900_000, end: NOW });
  expect(shifted(range, -1, NOW)).toEqual({ kind: 'between', start: NOW - 1_800_000, end: NOW - 900_000 });
  expect(boundsOf(shifted(shifted(range, -1, NOW), 1, NOW), NOW)).toEqual(boundsOf(range, NOW));
});

it('reads any stretch up to now, and widens what is looked at without going beyond now', () => {
  const minutes = (count: number) => ({ kind: 'last', milliseconds: count * 60_000 });
  for (const text of ['now-90m', 'now - 90m', '90m', ' 90 m']) expect(readRange(text)).toEqual(minutes(90));
  expect(readRange('2w')).toEqual(minutes(14 * 1440));
  for (const text of ['now', 'now-', 'now-0m', '90', 'm', 'now-9999999999m', '-90m'])
    expect(readRange(text)).toBeNull();
  expect(widened({ kind: 'last', milliseconds: 60_000 }, 0)).toEqual(minutes(2));
  const between = { kind: 'between', start: 1000, end: 3000 } as const;
  expect(widened(between, 10_000)).toEqual({ kind: 'between', start: 0, end: 4000 });
  expect(widened(between, 3500)).toEqual({ kind: 'between', start: 0, end: 3500 });
});
