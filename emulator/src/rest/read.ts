import { invalid } from '../query/error';

/** Reads fields of a request as BigQuery does: 64-bit integers and booleans may come as text. Each throws `BigQueryError`. */

/** An integer that is not negative; null where the field is absent. */
export function integer(value: unknown, name: string): bigint | null {
  if (value === undefined || value === null || value === '') return null;
  if (!/^\d+$/.test(String(value))) throw invalid(`Invalid value for ${name}: ${String(value)}`, name);
  return BigInt(String(value));
}

export function smallInteger(value: unknown, name: string): number | null {
  const found = integer(value, name);
  return found === null ? null : Number(found);
}

/** Also `True`, which Google's Python client sends. */
export function boolean(value: unknown): boolean {
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Labels as BigQuery takes them: lower-case letters, digits, `_` and `-`, 63 at most, the key starting with a letter. */
export function labels(value: unknown): Readonly<Record<string, string>> {
  const found = record(value);
  for (const [key, label] of Object.entries(found)) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key))
      throw invalid(`Label key "${key}" has invalid characters.`);
    if (typeof label !== 'string' || !/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(label))
      throw invalid(`Label value "${String(label)}" has invalid characters.`);
  }
  if (Object.keys(found).length > 64) throw invalid('Too many labels');
  return found as Record<string, string>;
}
