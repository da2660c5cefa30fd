/**
 * SUM and AVG of BIGNUMERIC: the four times 64 bits of its values are added up for themselves, and put together by a function of our own.
 */
import { fail, volatile } from '../../sql';
import type { AggregateRow } from './aggregate-functions';
import { ONE_EACH, withSumsOfParts } from './sums-of-parts';

const LIMBS = [0, 1, 2, 3].map(
  (i) =>
    (x: string): string =>
      `CAST('0x' || substr(hex(${x}), ${i * 16 + 1}, 16) AS UBIGINT)`,
);

/** @param isAverage rounded half away from nought */
const ofAll =
  (isAverage: boolean): AggregateRow =>
  (p) =>
    withSumsOfParts(p, [...LIMBS, ONE_EACH], ([first = '', second = '', third = '', fourth = '', count = '']) => {
      const limbs = [first, second, third, fourth].map((limb) => `CAST(${limb} AS VARCHAR)`).join(` || ' ' || `);
      const n = `CAST(${count} AS BIGINT)`;
      const value = `lq_bignumeric_sum(encode(${volatile(limbs)}), ${n}, ${isAverage ? n : '1::BIGINT'})`;
      const overflow = p.call.safe ? 'NULL' : fail('overflow', p.call.span);
      return `CASE WHEN ${count} IS NULL OR lq_yield() THEN NULL ELSE coalesce(nullif(${value}, ''::BLOB), ${overflow}) END`;
    });

export const sumOfBignumerics = ofAll(false);
export const averageOfBignumerics = ofAll(true);
