/** Hashes that DuckDB has not. */
import { createHash } from 'node:crypto';
import { fingerprint64 } from './farm-hash';
import { scalarFunction } from './scalar-function';

export const farmFingerprint = scalarFunction(['bytes'], 'integer', (bytes) => fingerprint64(bytes));

export const sha512 = scalarFunction(['bytes'], 'bytes', (bytes) => createHash('sha512').update(bytes).digest());
