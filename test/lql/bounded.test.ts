import fc from 'fast-check';
import { LQL_CODES, LqlError } from '../../packages/googlesql/src/lql/lql-error';
import { readLql } from '../../packages/googlesql/src/lql/read';
import { lqlErrorFor } from '../../src/run/lql-text';
import { toSql } from '../../packages/googlesql/src/lql/sql';
import { cpuTime } from '../cpu-time';
import { DEFAULT_NOW } from './case-file';
import { runs } from '../scale';

function read(text: string): LqlError | null {
  try {
    const reading = readLql(text, { tables: ['edge_logs'], now: DEFAULT_NOW });
    if (reading.kind === 'rules') toSql(reading.rules, { name: reading.table, columns: null });
    return null;
  } catch (error) {
    if (error instanceof LqlError) return error;
    throw error;
  }
}

describe('any text is read or refused with a code', () => {
  const kinds = {
    'code units, half surrogates among them': fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
      .map((units) => String.fromCharCode(...units)),
    'code points': fc.string({ unit: 'binary', maxLength: 200 }),
    graphemes: fc.string({ unit: 'grapheme', maxLength: 200 }),
    'characters with a meaning': fc
      .array(fc.constantFrom(...'-~:"()\\.@{}<>*, \t\n0123456789tsfcmTZ\0\ud83d\ude80é'.split('')), { maxLength: 60 })
      .map((parts) => parts.join('')),
    'forms with a meaning': fc
      .array(
        fc.constantFrom(
          ' ',
          ...'t: m.a: 2024- 03- {01..02} 17 T10:00:00 .5 Z .. last@ 5 h " - s: c: f: now 1710683222 > ~ @>'.split(' '),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join('')),
  };
  test.each(Object.entries(kinds))('%s', (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        const error = read(text);
        if (error === null) return;
        expect(LQL_CODES).toContain(error.code);
        const { start, end } = error.span;
        expect(start >= 0 && start <= end && end <= text.length).toBe(true);
        const { details } = lqlErrorFor(error, text);
        expect(details.line).toBeGreaterThan(0);
        expect(details.column).toBeGreaterThan(0);
        expect(Array.from(details.near ?? '').length).toBeLessThanOrEqual(81);
        expect(error.message.length).toBeLessThan(400);
      }),
      { ...runs(2000) },
    );
  });
});

describe('the longest text takes milliseconds, whatever it repeats', () => {
  const parts = [' ', '\n', 's:a ', 'm.a:1 ', 't:now ', 'x ', '"x" ', '\u0301'].concat(
    String.raw`" \" "\ ( \ - ~ : . a a. é 🚀 1 1. .. 1.. 9 @ {01..02} 2024-03-17 T10:00:00 info.. 0 -1 last@ c:count( (( )) * m. , =`.split(
      ' ',
    ),
  );
  const heads = ['', ...'m.a: m.a:" m.a:( m.a:~ t: s: c:sum( f: ~ " - m.level: s:a@ m.a:1..'.split(' ')];
  test.each(heads)('after %p', (head) => {
    for (const part of parts) {
      const text = (head + part.repeat(65_536)).slice(0, 20_000);
      // Ten times what it takes; quadratic work on 20,000 characters would be seconds, each time. The process collects garbage at times.
      const slow = [1, 2, 3].every(() => cpuTime(() => read(text)) > 100);
      expect({ part, slow }).toEqual({ part, slow: false });
    }
  });

  test('what the most joins and clauses make stays a small SQL text', () => {
    const path = (i: number, depth: number) =>
      Array.from({ length: depth }, (_, d) => `a${d < depth - 2 ? d : i}`).join('.');
    const wide = Array.from({ length: 100 }, (_, i) => `m.${path(i, 2)}:1`).join(' ');
    expect(read(wide)).toBeNull();
    const deep = Array.from({ length: 100 }, (_, i) => `b${i}.${path(i, 19)}:1`).join(' ');
    expect(read(deep)?.code).toBe('too_many_arrays');
  });
});
