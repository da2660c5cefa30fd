/** How many characters are inserted, removed or replaced to make one text of another. */
import { scalarFunction } from './scalar-function';

/** Pairs of characters that are compared in the time of one unit of the budget. */
const PAIRS = 2;

export const editDistance = scalarFunction(['text', 'text'], 'integer', (a, b, budget) => {
  const [columns, rows] = [codePoints(a), codePoints(b)];
  if (!budget.spend(Math.ceil((columns.length * rows.length) / PAIRS))) return 0n;
  return BigInt(distance(columns, rows));
});

function codePoints(text: string): Uint32Array {
  return Uint32Array.from(text, (character) => character.codePointAt(0)!);
}

/** Row by row through the distances of all beginnings of the two. */
function distance(columns: Uint32Array, rows: Uint32Array): number {
  const line = Uint32Array.from({ length: columns.length + 1 }, (_, i) => i);
  for (let row = 0; row < rows.length; row++) {
    const character = rows[row];
    let diagonal = row;
    let left = row + 1;
    line[0] = left;
    for (let column = 0; column < columns.length; column++) {
      const above = line[column + 1]!;
      const replaced = columns[column] === character ? diagonal : diagonal + 1;
      const moved = (above < left ? above : left) + 1;
      left = replaced < moved ? replaced : moved;
      line[column + 1] = left;
      diagonal = above;
    }
  }
  return line[columns.length]!;
}
