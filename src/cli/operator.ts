import type { Key } from '../keys/key';

/** Whoever may start this process may read its data anyway. */
export const OPERATOR: Key = {
  name: 'operator',
  endpoints: '*',
  pins: new Map(),
  redact: false,
  allowSql: true,
  export: false,
  rateLimit: null,
  dailyBytes: null,
  expires: null,
};
