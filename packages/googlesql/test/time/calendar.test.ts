import fc from 'fast-check';
import { civilOf, daysInMonth, daysOf, isoText } from '../../src/time/calendar';
import { readMoment } from '../../src/lql/timestamp';
import { runs } from '../../../../test/scale';

/** Days of the years 1 to 9999, as Date has them. */
const day = fc.integer({ min: -719_162, max: 2_932_896 });

describe('the calendar agrees with Date', () => {
  test('days and dates, both ways', () => {
    fc.assert(
      fc.property(day, (days) => {
        const date = new Date(days * 86_400_000);
        const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
        expect(civilOf(days)).toEqual(civil);
        expect(daysOf(civil.year, civil.month, civil.day)).toBe(days);
        expect(daysInMonth(civil.year, civil.month)).toBe(
          new Date(date.setUTCFullYear(civil.year, civil.month, 0)).getUTCDate(),
        );
      }),
      { ...runs(5000) },
    );
  });

  test('a moment is read back from its ISO text to the microsecond', () => {
    fc.assert(
      fc.property(day, fc.bigInt({ min: 0n, max: 86_399_999_999n }), (days, rest) => {
        const micros = BigInt(days) * 86_400_000_000n + rest;
        expect(readMoment(isoText(micros))).toEqual({ micros, origin: 'absolute' });
        const milliseconds = new Date(Number((micros - (((micros % 1000n) + 1000n) % 1000n)) / 1000n));
        expect(isoText(micros).slice(0, 19)).toBe(milliseconds.toISOString().slice(0, 19));
      }),
      { ...runs(5000) },
    );
  });
});
