/**
 * Bits of BYTES. DuckDB has strings of bits, though no empty ones. Nothing here fails but `fail`: DuckDB may evaluate what CASE passes
 * over, for a value of a dictionary.
 */
import { type Call, sqlOf } from '../expressions/call';

const NO_BYTES = "''::BLOB";

/** `print` of the bits of two BYTES, which have to be of the same length. */
export function bitwiseBytes(call: Call, print: (a: string, b: string) => string): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
    const differ = `octet_length(${a}) <> octet_length(${b})`;
    return (
      `CASE WHEN ${differ} THEN ${call.fail('argument')} ` +
      `WHEN octet_length(${a}) = 0 AND ${b} IS NOT NULL THEN ${NO_BYTES} ` +
      `ELSE CAST(${print(bits(a), bits(`CASE WHEN ${differ} THEN ${a} ELSE ${b} END`))} AS BLOB) END`
    );
  });
}

export function invertedBytes(call: Call): string {
  return call.bind(
    [sqlOf(call, 0)],
    (x) => `CASE WHEN octet_length(${x}) = 0 THEN ${NO_BYTES} ELSE CAST(~${bits(x)} AS BLOB) END`,
  );
}

/** Of as many bytes: bits shifted out are gone, and noughts come in. */
export function shiftedBytes(call: Call, left: boolean): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (x, n) => {
    const by = `CAST(greatest(least(${n}, octet_length(${x}) * 8), 0) AS INTEGER)`;
    return (
      `CASE WHEN ${x} IS NULL OR ${n} IS NULL THEN NULL WHEN ${n} < 0 THEN ${call.fail('argument')} ` +
      `WHEN octet_length(${x}) = 0 THEN ${NO_BYTES} ELSE CAST(${bits(x)} ${left ? '<<' : '>>'} ${by} AS BLOB) END`
    );
  });
}

/** How many bits are set. */
export function countedBits(call: Call): string {
  return call.bind(
    [sqlOf(call, 0)],
    (x) => `CASE WHEN octet_length(${x}) = 0 THEN CAST(0 AS BIGINT) ELSE CAST(bit_count(${bits(x)}) AS BIGINT) END`,
  );
}

function bits(bytes: string): string {
  return `CAST(CASE WHEN octet_length(${bytes}) = 0 THEN '\\x00'::BLOB ELSE ${bytes} END AS BIT)`;
}
