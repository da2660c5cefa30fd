import type { HostileQuery } from './sql-functions';
export const WORST_CASES: readonly HostileQuery[] = [];
