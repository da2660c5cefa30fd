/** Times and numbers from text, with the values and refusals of the reference engine. */
import { dateText, datetimeText, timeText } from '../../src/googlesql/literals/civil';
import { intervalText } from '../../src/googlesql/literals/interval';
import { decimalText, floatText, integerText } from '../../src/googlesql/literals/number';
import { timestampMicros } from '../../src/googlesql/literals/timestamp';

describe('timestamps', () => {
  it.each([
    ['2026-09-30T11:00:00Z', 1790766000000000n],
    ['2026-09-30t11:00:00z', 1790766000000000n],
    ['2026-09-30 11:00:00', 1790766000000000n],
    ['2026-09-30 11:00:00 UTC', 1790766000000000n],
    ['2026-09-30 11:00:00 UTC+3', 1790755200000000n],
    ['2026-09-30 11:00:00+00', 1790766000000000n],
    ['2026-09-30 11:00:00+5:30', 1790746200000000n],
    ['2026-09-30 11:00:00+0530', 1790746200000000n],
    ['2026-09-30 11:00:00-8', 1790794800000000n],
    ['2026-09-30 11:00:00 EST', 1790784000000000n],
    ['2026-9-3 1:2:3', 1788397323000000n],
    ['2026-09-30', 1790726400000000n],
    ['2026-09-30 +05', 1790708400000000n],
    ['2026-09-30 11:00:00.1', 1790766000100000n],
    ['2026-09-30 11:00:00.123456', 1790766000123456n],
    ['2026-09-30 11:00:60', 1790766060000000n],
    ['2016-12-31 23:59:60.5', 1483228800500000n],
    // A time that the clock skips, and one that it shows twice.
    ['2026-03-08 02:30:00 America/New_York', 1772955000000000n],
    ['2026-11-01 01:30:00 America/New_York', 1793511000000000n],
    // Local mean time, before zones were.
    ['0001-01-01 00:00:00 America/New_York', -62135579038000000n],
    ['1850-01-01 00:00:00 Europe/Berlin', -3786828808000000n],
    ['1969-12-31 23:59:59.999999', -1n],
  ])('%s', (text, micros) => {
    expect(timestampMicros(text)).toBe(micros);
  });

  it.each([
    '',
    'yesterday',
    '2026-09-30 11:00',
    '2026-09-30T',
    '26-09-30',
    '2026-02-30',
    '2026-13-01',
    '2026-09-30 24:00:00',
    '2026-09-30 11:60:00',
    ' 2026-09-30',
    '2026-09-30 11:00:00 ',
    '2026-09-30 11:00:00.',
    '2026-09-30 11:00:00.1234567',
    '2026-09-30 11:00:00 +5:30',
    '2026-09-30 11:00:00+14:30',
    '2026-09-30 11:00:00UTC',
    '2026-09-30 11:00:00  UTC',
    '2026-09-30 11:00:00 Nowhere/Land',
    '2026-09-30 11:00:00 america/new_york',
    '2026-09-30Z',
    '2026-09-30 America/New_York',
    '10000-01-01 00:00:00',
    '0001-01-01 00:00:00+01',
    '0000-01-01',
  ])('refuses %j', (text) => {
    expect(timestampMicros(text)).toBeNull();
  });
});

describe('dates, times, datetimes', () => {
  it('prints them in full', () => {
    expect(dateText('2024-2-9')).toBe('2024-02-09');
    expect(timeText('1:2:3.50')).toBe('01:02:03.5');
    expect(timeText('23:59:60')).toBe('00:00:00');
    expect(datetimeText('2026-9-3')).toBe('2026-09-03T00:00:00');
    expect(datetimeText('2026-12-31 23:59:60')).toBe('2027-01-01T00:00:00');
  });

  it.each(['2023-2-29', '2026-09-30 00:00:00', '20260930', ''])('is no date: %j', (text) => {
    expect(dateText(text)).toBeNull();
  });

  it.each(['11:00', '24:00:00', '11:00:00Z'])('is no time: %j', (text) => {
    expect(timeText(text)).toBeNull();
  });

  it.each(['2026-09-30 11:00', '2026-09-30T11:00:00Z', '9999-12-31 23:59:60'])('is no datetime: %j', (text) => {
    expect(datetimeText(text)).toBeNull();
  });
});

describe('numbers', () => {
  it('reads INT64 to its ends', () => {
    expect(integerText('9223372036854775807', false)).toBe('9223372036854775807');
    expect(integerText('9223372036854775808', false)).toBeNull();
    expect(integerText('9223372036854775808', true)).toBe('-9223372036854775808');
    expect(integerText('0x1F', false)).toBe('31');
  });

  it('reads FLOAT64 in its shortest form', () => {
    expect(floatText('1.50')).toBe('1.5');
    expect(floatText('1e400')).toBe('Infinity');
  });

  it.each([
    ['-12.50e3', 'NUMERIC', '-12500'],
    ['0.000000001', 'NUMERIC', '0.000000001'],
    ['99999999999999999999999999999.999999999', 'NUMERIC', '99999999999999999999999999999.999999999'],
    ['1e29', 'NUMERIC', null],
    ['1e38', 'BIGNUMERIC', '100000000000000000000000000000000000000'],
    ['1e39', 'BIGNUMERIC', null],
    ['-0', 'NUMERIC', '0'],
    ['x', 'NUMERIC', null],
    ['', 'NUMERIC', null],
  ] as const)('reads %s as %s', (text, kind, digits) => {
    expect(decimalText(text, kind, true)).toBe(digits);
  });

  it('rounds a FLOAT64 literal but refuses a NUMERIC one with too many digits', () => {
    expect(decimalText('1.12345678950', 'NUMERIC', false)).toBe('1.12345679');
    expect(decimalText('1.1234567895', 'NUMERIC', true)).toBeNull();
  });
});

describe('intervals', () => {
  it.each([
    ['5', 'DAY', null, '0-0 5 0:0:0'],
    ['-1', 'MONTH', null, '-0-1 0 0:0:0'],
    ['14', 'MONTH', null, '1-2 0 0:0:0'],
    ['2', 'WEEK', null, '0-0 14 0:0:0'],
    ['1.5', 'SECOND', null, '0-0 0 0:0:1.5'],
    ['1-2', 'YEAR', 'MONTH', '1-2 0 0:0:0'],
    ['1-2 3 4:5:6.5', 'YEAR', 'SECOND', '1-2 3 4:5:6.5'],
    ['-1-2 -3 -4:5:6', 'YEAR', 'SECOND', '-1-2 -3 -4:5:6'],
    ['10:20', 'HOUR', 'MINUTE', '0-0 0 10:20:0'],
    ['1.5', 'DAY', null, null],
    ['x', 'DAY', null, null],
    ['1-2', 'MONTH', 'YEAR', null],
  ] as const)('%s %s TO %s', (text, from, to, canonical) => {
    expect(intervalText(text, from, to)).toBe(canonical);
  });
});
