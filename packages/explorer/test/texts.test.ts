/** What rows hold, as the explorer reads and shows it. */
import { member, parseExactly, writeExactly } from '../src/exact-json';
import { microsOf, writeInstant } from '../src/time-range';
import { typesOfRows } from '../src/field-values';
import { severityOf } from '../src/severity';
import { firstOf, visibleText } from '../src/visible-text';
import { rolesOf } from '../../googlesql/src/roles';
import { instantText } from '../../googlesql/src/time/instant';

it('writes instants to the microsecond, before 1970 too', () => {
  expect(writeInstant(1795358960874706n, 'utc', true)).toBe('2026-11-22 14:49:20.874706 UTC');
  expect(writeInstant(-1n, 'utc', true)).toBe('1969-12-31 23:59:59.999999 UTC');
  expect(microsOf('2026-11-22T13:42:00')).toBe(1795354920000000n);
  expect(microsOf('2026-11-22T13:42:00+01:00')).toBe(1795351320000000n);
  for (const written of ['2026-11-22T13:42:00.123456Z', '2026-11-22 13:42:00.123456', '1969-12-31T23:59:59.999999Z'])
    expect(instantText(microsOf(written) ?? 0n)).toBe(`${written.replace(' ', 'T').replace('Z', '')}Z`);
  for (const other of [12, 'soon', '2026-13-45T00:00:00', null, undefined]) expect(microsOf(other)).toBeNull();
});

it('reads members that every object has as those of the row', () => {
  const row = parseExactly('{"__proto__":{"a":1},"constructor":2}');
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw new Error('It is a record.');
  expect(member(row as never, '__proto__')).toEqual({ a: 1 });
  expect(member(row as never, 'constructor')).toBe(2);
  expect(member(row as never, 'toString')).toBeUndefined();
  expect(writeExactly(row)).toBe('{"__proto__":{"a":1},"constructor":2}');
});

it('writes every digit of a whole number', () => {
  expect(writeExactly({ big: 9223372036854775807n, list: [1, 'a"b', null], none: {} })).toBe(
    '{"big":9223372036854775807,"list":[1,"a\\"b",null],"none":{}}',
  );
  expect(writeExactly({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
});

it('shows control characters and direction marks by their number', () => {
  expect(visibleText('a\u202eb\u0000c\u001b[31m')).toBe('a[U+202E]b[U+0000]c[U+001B][31m');
  expect(visibleText('line\n\ttab, Ä, 日本, العربية')).toBe('line\n\ttab, Ä, 日本, العربية');
  expect(firstOf('a\r\nb\tc', 20)).toBe('a b c');
  expect(firstOf('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(10)}…`);
});

it.each([
  [{ level: 'FATAL' }, 'error'],
  [{ metadata: [{ level: 'warn' }] }, 'warning'],
  [{ metadata: [{ parsed: [{ error_severity: 'LOG' }] }] }, 'info'],
  [{ metadata: [{ response: [{ status_code: 503 }] }] }, 'error'],
  [{ metadata: [{ response: [{ status_code: '404' }] }] }, 'warning'],
  [{ metadata: [{ response: [{ status_code: 7 }] }], event_message: 'error' }, null],
  [{ metadata: null }, null],
])('%j is %s', (row, severity) => {
  expect(severityOf(row, rolesOf(typesOfRows([row])).severity)).toBe(severity);
});
