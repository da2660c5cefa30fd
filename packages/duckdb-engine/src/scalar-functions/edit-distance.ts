/** How many characters are inserted, removed or replaced to make one text of another. */
import { scalarFunction } from './scalar-function';

/** Pairs of characters that are compared in the time of one unit of the budget, and units for each character. */
const PAIRS = 8;
const FOR_CHARACTER = 8;

export const editDistance = scalarFunction(['text', 'text'], 'integer', (a, b, budget) => {
  const units = (a.length + b.length) * FOR_CHARACTER + Math.ceil((a.length * b.length) / PAIRS);
  if (!budget.spend(units)) return 0n;
  const numbers = new Map<number, number>();
  const [rows, columns] = [numbered(a, numbers), numbered(b, numbers)];
  return BigInt(distance(rows, columns, numbers.size));
});

/** The characters of a text, each by a small number of its own. */
function numbered(text: string, numbers: Map<number, number>): Int32Array {
  const characters = new Int32Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.codePointAt(i)!;
    if (character > LAST_OF_ONE_UNIT) i++;
    let number = numbers.get(character);
    if (number === undefined) numbers.set(character, (number = numbers.size));
    characters[length++] = number;
  }
  return characters.subarray(0, length);
}

/** Characters beyond it take two units of UTF-16. */
const LAST_OF_ONE_UNIT = 0xffff;

/** Rows that are computed together, a bit each. */
const BLOCK = 32;

/**
 * Myers' algorithm. Neighbours in the table of the distances of all beginnings differ by one at most, so 32 rows are two
 * words: where the distance grows downwards, and where it falls.
 */
function distance(rows: Int32Array, columns: Int32Array, characters: number): number {
  // How much the distance grows from each column to the next in the row above the block.
  const steps = new Int8Array(columns.length).fill(1);
  const places = new Int32Array(characters);
  for (let start = 0; start < rows.length; start += BLOCK) {
    const block = rows.subarray(start, start + BLOCK);
    places.fill(0);
    block.forEach((character, i) => (places[character]! |= 1 << i));
    step(places, columns, steps, block.length - 1);
  }
  return steps.reduce((sum, each) => sum + each, rows.length);
}

/** Moves `steps` down to the row `last` of a block whose characters are at the bits of `places`. */
function step(places: Int32Array, columns: Int32Array, steps: Int8Array, last: number): void {
  let grows = -1;
  let falls = 0;
  for (let column = 0; column < columns.length; column++) {
    const above = steps[column]!;
    const negative = above < 0 ? 1 : 0;
    const equal = places[columns[column]!]!;
    const vertical = equal | falls;
    const same = equal | negative;
    const horizontal = (((same & grows) + grows) ^ grows) | same;
    const up = falls | ~(horizontal | grows);
    const down = grows & horizontal;
    steps[column] = ((up >>> last) & 1) - ((down >>> last) & 1);
    const upper = (up << 1) | (above > 0 ? 1 : 0);
    const lower = (down << 1) | negative;
    grows = lower | ~(vertical | upper);
    falls = upper & vertical;
  }
}
