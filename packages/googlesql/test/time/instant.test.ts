import fc from 'fast-check';

import { instantText, readInstant } from '../../src/time/instant';

const EPOCH = Date.UTC(1970, 0, 1);

describe('an ISO 8601 instant', () => {
  it.each([
    ['1970-01-02', 86_400_000_000n],
    ['1970-01-01 00:00', 0n],
    ['1970-01-01T00:00:01.5', 1_500_000n],
    ['1970-01-01t00:00:00,1234567z', 123_456n],
    ['1970-01-01T01:30:00+01:30', 0n],
    ['1970-01-01T01:00:00 01', 0n],
    ['1969-12-31T19:00:00-0500', 0n],
    ['1970-01-01 00:00:00 UTC', 0n],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000_000n],
    ['1970-1-1', 'spelling'],
    ['1970-01-01T00', 'spelling'],
    ['1970-01-01T00:00:00.', 'spelling'],
    ['1970-02-30', 'time'],
    ['1900-02-29', 'time'],
    ['0000-01-01', 'time'],
    ['1970-01-01T24:00', 'time'],
    ['1970-01-01T00:00:60', 'time'],
    ['1970-01-01T00:00:00+24:00', 'zone'],
    ['9999-12-31T23:59:59-00:01', 'range'],
  ])('%s is %s', (text, read) => {
    expect(readInstant(text)).toBe(read);
  });

  it('is read as Date reads it, and written as it was', () => {
    const date = fc.date({ min: new Date(EPOCH - 6e13), max: new Date(EPOCH + 2e14), noInvalidDate: true });
    fc.assert(
      fc.property(date, fc.integer({ min: -1439, max: 1439 }), (instant, minutes) => {
        const two = (n: number): string => String(n).padStart(2, '0');
        const size = Math.abs(minutes);
        const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const local = new Date(instant.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const micros = BigInt(instant.getTime()) * 1000n;
        expect(readInstant(`${local}${zone}`)).toBe(micros);
        expect(readInstant(instantText(micros))).toBe(micros);
      }),
    );
  });
});
