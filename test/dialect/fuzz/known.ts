/** Differences that are documented (docs/dialect.md), or that are still open: each entry is to be taken out when it is mended. */
import type { Difference } from './difference';

interface Known {
  /** Of `<kind> <function or place>`. */
  readonly of?: RegExp;
  readonly sql?: RegExp;
  readonly why: string;
}

const KNOWN: readonly Known[] = [{ sql: /BIGNUMERIC/, why: 'BIGNUMERIC has 38 digits, 18 of them after the point.' }];

export function isKnown({ kind, of, sql }: Difference): boolean {
  return KNOWN.some((known) => (known.of?.test(`${kind} ${of}`) ?? true) && (known.sql?.test(sql) ?? true));
}
