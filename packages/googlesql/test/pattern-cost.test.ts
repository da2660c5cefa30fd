import { RE2JS } from 're2js';
import { MOST_PATTERN_COST, patternCost } from '../src/pattern-cost';

test.each([
  ['', 0],
  ['abc', 3],
  [String.raw`\Qa{9}b\E`, 5],
  ['a{9}', 22],
  ['(a{9}){9}', 229],
  ['[a-z]{10,20}', 48],
])('%p costs %d', (pattern, cost) => {
  expect(patternCost(pattern)).toBeCloseTo(cost, 0);
});

test('grows with every level of repetition, never below the program', () => {
  for (const pattern of ['(((a*){1,31}){1,31})', '((a{1,20}|b){10}){3,}', '(?:(?:x{2}){2}){2}', '((.*)){9}']) {
    expect(patternCost(pattern)).toBeGreaterThan(RE2JS.compile(pattern).programSize() - 4);
  }
  expect(patternCost('('.repeat(20) + 'a' + '{9})'.repeat(20))).toBeGreaterThan(1e15);
});

test.each([
  ['a repetition of repetitions', '(((a*){1,31}){1,31})'.repeat(10)],
  ['tables of Unicode', String.raw`\pL`.repeat(100)],
  ['the cases of all characters', String.raw`(?i)[b-\x{10ffff}]`.repeat(10)],
  ['thousands of repetitions', 'a?'.repeat(2000)],
])('%s are too much', (_what, pattern) => {
  expect(patternCost(pattern)).toBeGreaterThan(MOST_PATTERN_COST);
});

test.each([
  ['any text of 4 KiB', 'x'.repeat(4096)],
  ['an address', String.raw`^(?:\d{1,3}\.){3}\d{1,3}$`],
  ['a thousand of a class', '[^,]{1000}'],
  ['many words in any case', `(?i)${Array.from({ length: 300 }, (_, i) => `word${i}`).join('|')}`],
])('%s is not', (_what, pattern) => {
  expect(patternCost(pattern)).toBeLessThanOrEqual(MOST_PATTERN_COST);
});
