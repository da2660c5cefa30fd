/** A row of one side alone, or of both. */
export interface DiffLine {
  readonly side: 'both' | 'expected' | 'came';
  readonly text: string;
}

/** Cells of the table of a longest common subsequence; beyond, rows are compared by their places. */
const MOST_CELLS = 4_000_000;

/** What has to be taken from the expected rows, and what put there, for those that came: in order, as few as can be. */
export function diffRows(expected: readonly string[], came: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < expected.length && start < came.length && expected[start] === came[start]) start++;
  let [expectedEnd, cameEnd] = [expected.length, came.length];
  while (expectedEnd > start && cameEnd > start && expected[expectedEnd - 1] === came[cameEnd - 1]) {
    expectedEnd--;
    cameEnd--;
  }
  const both = (texts: readonly string[]): DiffLine[] => texts.map((text) => ({ side: 'both', text }));
  return [
    ...both(expected.slice(0, start)),
    ...between(expected.slice(start, expectedEnd), came.slice(start, cameEnd)),
    ...both(expected.slice(expectedEnd)),
  ];
}

function between(expected: readonly string[], came: readonly string[]): DiffLine[] {
  const only = (side: 'expected' | 'came', texts: readonly string[]): DiffLine[] =>
    texts.map((text) => ({ side, text }));
  const width = came.length + 1;
  if ((expected.length + 1) * width > MOST_CELLS) return [...only('expected', expected), ...only('came', came)];
  // common[i * width + j]: rows that expected[i..] and came[j..] have in common.
  const common = new Uint16Array((expected.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = expected.length - 1; i >= 0; i--) {
    for (let j = came.length - 1; j >= 0; j--) {
      common[i * width + j] = expected[i] === came[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < expected.length || j < came.length) {
    if (i < expected.length && j < came.length && expected[i] === came[j]) {
      lines.push({ side: 'both', text: expected[i] ?? '' });
      i++;
      j++;
    } else if (i < expected.length && (j === came.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ side: 'expected', text: expected[i++] ?? '' });
    } else {
      lines.push({ side: 'came', text: came[j++] ?? '' });
    }
  }
  return lines;
}
