import { typeText } from '@logquay/googlesql/types';
import { parseExact, writeExact } from '../../json';
import { type Outcome, type Row, readableRow } from './outcome';
import type { EndpointTest } from './test-file';

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

/** What a request was answered with, against what a test expects: lines for people; none where all is as expected. */
export function compare(test: EndpointTest, outcome: Outcome): string[] {
  if (outcome.kind === 'error') {
    if (test.error !== undefined) return compareError(test.error, outcome);
    return [`expected a result, came ${describeError(outcome)}`];
  }
  const { columns, rows, truncated } = outcome;
  if (test.error !== undefined) {
    const reason = typeof test.error === 'string' ? test.error : test.error.reason;
    return [`expected the error ${reason}, came a result of ${rowsOf(rows.length)}`];
  }
  const differences: string[] = [];
  if (test.columns !== undefined) differences.push(...compareColumns(test.columns, outcome));
  if (test.count !== undefined && test.count !== BigInt(rows.length)) {
    differences.push(`count: expected ${String(test.count)}, came ${String(rows.length)}`);
  }
  if (test.truncated !== undefined && test.truncated !== truncated) {
    differences.push(`truncated: expected ${String(test.truncated)}, came ${String(truncated)}`);
  }
  if (test.rows !== undefined) {
    const unknown = (test.only ?? []).filter((name) => !columns.some((column) => column.name === name));
    if (unknown.length > 0) return [...differences, `only: the result has no column ${unknown.join(', ')}`];
    const expected = test.rows.map((row) => readableRow(row, columns));
    differences.push(...compareRows(expected, comparedRows(test, rows), test.order === 'any'));
  }
  return differences;
}

/** The rows with the columns that a test compares. */
export function comparedRows({ only }: EndpointTest, rows: readonly Row[]): readonly Row[] {
  if (only === undefined) return rows;
  return rows.map((row) => Object.fromEntries(only.map((name) => [name, row[name]])));
}

function compareError(
  expected: NonNullable<EndpointTest['error']>,
  came: Extract<Outcome, { kind: 'error' }>,
): string[] {
  const wanted = typeof expected === 'string' ? { reason: expected } : expected;
  const { line, column, near, parameter } = came.details;
  const actual = {
    reason: came.reason,
    parameter,
    near,
    line: line === undefined ? undefined : BigInt(line),
    column: column === undefined ? undefined : BigInt(column),
  };
  const differences = Object.entries(actual).flatMap(([name, value]) => {
    const other = wanted[name as keyof typeof wanted];
    if (other === undefined || other === value) return [];
    return [`error.${name}: expected ${String(other)}, came ${value === undefined ? 'none' : String(value)}`];
  });
  if (wanted.message !== undefined && !came.message.includes(wanted.message)) {
    differences.push(`error.message: expected a text with ${JSON.stringify(wanted.message)}`);
  }
  return differences.length === 0 ? [] : [...differences, `came ${describeError(came)}`];
}

function describeError({ reason, message, details }: Extract<Outcome, { kind: 'error' }>): string {
  const { line, column } = details;
  const place = line === undefined ? '' : ` (line ${String(line)}, column ${String(column)})`;
  return `the error ${reason}${place}: ${message}`;
}

function compareColumns(
  expected: Readonly<Record<string, string>>,
  { columns }: Extract<Outcome, { kind: 'result' }>,
): string[] {
  const wanted = Object.entries(expected).map(([name, type]) => `${name} ${type.replace(/\s+/g, ' ')}`);
  const came = columns.map(({ name, type }) => `${name} ${typeText(type)}`);
  const same = wanted.length === came.length && wanted.every((column, i) => column === came[i]);
  return same ? [] : ['columns:', ...shown(diffRows(wanted, came))];
}

function compareRows(expected: readonly Row[], came: readonly Row[], anyOrder: boolean): string[] {
  const [wanted, given] = [expected, came].map((rows) => {
    const texts = rows.map(writeExact);
    return anyOrder ? texts.sort() : texts;
  }) as [string[], string[]];
  const lines = diffRows(wanted, given);
  if (lines.every(({ side }) => side === 'both')) return [];
  const same = lines.filter(({ side }) => side === 'both').length;
  const head = `rows: expected ${String(expected.length)}, came ${String(came.length)}, ${String(same)} of them alike`;
  return [head, ...shown(lines), ...changedColumns(lines)];
}

/** Lines of both sides around a difference, and characters of a line. */
const CONTEXT = 2;
const WIDEST = 400;
const MOST_LINES = 60;

/** As `diff` shows it: `-` was expected, `+` came. */
function shown(lines: readonly DiffLine[]): string[] {
  const result: string[] = [];
  let skipped = 0;
  lines.forEach(({ side, text }, i) => {
    const near = lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((line) => line.side !== 'both');
    if (!near) {
      skipped++;
      return;
    }
    if (skipped > 0) result.push(`    … ${rowsOf(skipped)} alike`);
    skipped = 0;
    result.push(`  ${{ both: ' ', expected: '-', came: '+' }[side]} ${shortened(text)}`);
  });
  if (skipped > 0) result.push(`    … ${rowsOf(skipped)} alike`);
  if (result.length <= MOST_LINES) return result;
  return [...result.slice(0, MOST_LINES), `    … ${String(result.length - MOST_LINES)} more lines`];
}

/** Where one row came for one other: which columns differ, which is hard to see in two long lines. */
function changedColumns(lines: readonly DiffLine[]): string[] {
  const changed = lines.filter(({ side }) => side !== 'both');
  const [expected, came] = changed;
  if (changed.length !== 2 || expected?.side !== 'expected' || came?.side !== 'came') return [];
  const [wanted, given] = [expected, came].map(({ text }) => parseExact(text) as Row) as [Row, Row];
  return [...new Set([...Object.keys(wanted), ...Object.keys(given)])].flatMap((name) => {
    const [before, after] = [wanted, given].map((row) =>
      Object.hasOwn(row, name) ? writeExact(row[name]) : 'no such column',
    ) as [string, string];
    return before === after ? [] : [`  ${name}: expected ${shortened(before)}, came ${shortened(after)}`];
  });
}

function shortened(text: string): string {
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST)}…`;
}

function rowsOf(count: number): string {
  return count === 1 ? '1 row' : `${String(count)} rows`;
}
