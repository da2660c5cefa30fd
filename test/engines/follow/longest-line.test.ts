import { LongestLine } from '../../../src/engines/duckdb/follow/longest-line';

it('counts lines and knows the longest, whichever of them it is', () => {
  for (const [text, count, bytes] of [
    ['\n', 1, 0],
    ['a\nbbb\ncc\n', 3, 3],
    ['äöü\r\na\n', 2, 7],
  ] as const) {
    const longest = new LongestLine();
    expect([longest.countIn(Buffer.from(text)), longest.bytes]).toEqual([count, bytes]);
    longest.see(5);
    expect(longest.bytes).toBe(Math.max(5, bytes));
  }
});
