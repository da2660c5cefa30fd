/** Labels as BigQuery takes them: lower-case letters, digits, `_` and `-`, at most 63 characters, keys led by a letter. */
import { createHash } from 'node:crypto';

const LENGTH = 63;
/** Hex digits of a key name's hash: enough to tell keys apart, and nobody's name on the bill. */
const HASH_LENGTH = 16;

/**
 * The labels of a query in BigQuery's form. `key`, the name of an API key, becomes the first 16 hex digits of its SHA-256;
 * `kind` is `run` where none is given.
 */
export function bigQueryLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const clean: Record<string, string> = { kind: 'run' };
  for (const [key, value] of Object.entries(labels)) {
    const name = sanitise(key.replace(/^[^a-z]+/i, ''));
    if (name !== '') clean[name] = sanitise(name === 'key' ? hash(value) : value);
  }
  return clean;
}

function sanitise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, LENGTH);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}
