import { boundsOf, OFFERED, readRange, shifted, writeRange } from '../src/time-range';

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
