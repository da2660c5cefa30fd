/** JSON that is read and printed again: every digit is kept, and no text becomes anything else. */
import fc from 'fast-check';

import { exactNumber, longNumber, parseLine, printLine } from '../src/data/json-line';

it('is what it was, whatever its texts look like', () => {
  const marked = fc
    .tuple(fc.constantFrom('\u0000number:', '\u0000', ''), fc.string({ unit: 'binary', maxLength: 9 }))
    .map((parts) => parts.join(''));
  const text = fc.oneof(marked, fc.constantFrom('\u0000number:1}]', '\u0000number:[{', '\u0000number:'));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('record'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    record: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }));
  fc.assert(
    fc.property(value, (any) => {
      const json = JSON.stringify(any);
      expect(JSON.parse(printLine(parseLine(json)))).toEqual(JSON.parse(json));
    }),
    { numRuns: 200 },
  );
});

it('keeps the digits of numbers that are too long for a double', () => {
  const line = '{"a":-9223372036854775808,"b":[12345678901234567890.5]}';
  expect(printLine(parseLine(line))).toBe(line);
  expect(longNumber(exactNumber('-0.0'))).toBe('-0.0');
  expect(printLine([exactNumber('9007199254740993')])).toBe('[9007199254740993]');
});

it('is well-formed Unicode, in names too', () => {
  const unit = fc.constantFrom('\ud83d', '\ude00', '\udead', '\\', 'u', 'd83d', '"', 'a', '\0');
  const text = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''));
  fc.assert(
    fc.property(text, (any) => {
      const read = any.replace(/\p{Surrogate}/gu, '\ufffd');
      const expected = { [read]: [read] };
      const escaped = JSON.stringify({ [any]: [any] }).replace(
        /[\ud800-\udfff]/g,
        (half) => `\\u${half.charCodeAt(0).toString(16).toUpperCase()}`,
      );
      expect(parseLine(escaped)).toEqual(expected);
      expect(JSON.parse(printLine({ [any]: [any] }))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
