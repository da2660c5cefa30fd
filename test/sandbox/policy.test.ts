import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueryError } from '../../src/errors';
import { surveyQuery, unsupportedError } from '../../src/googlesql/parser';
import { readConsumerQuery } from '../../src/sandbox/policy';

interface Case {
  readonly id: string;
  readonly kind: 'accept' | 'reject';
  readonly consumer: string;
}

const CASES = JSON.parse(readFileSync(join(__dirname, '../cases/sandbox.json'), 'utf8')) as Case[];

const STORED = {
  cteTables: [
    'edge_logs',
    'postgres_logs',
    'function_edge_logs',
    'function_logs',
    'auth_logs',
    'realtime_logs',
    'storage_logs',
    'postgrest_logs',
    'pgbouncer_logs',
  ],
  parameters: [
    { name: 'project', type: 'STRING' },
    { name: 'iso_timestamp_start', type: 'STRING' },
    { name: 'iso_timestamp_end', type: 'STRING' },
  ],
} as const;

function check(sql: string): string {
  try {
    const parsed = surveyQuery(sql);
    readConsumerQuery({ ...parsed, text: sql }, STORED);
    const [construct] = parsed.unsupported;
    if (construct !== undefined) throw unsupportedError(construct);
    return 'accept';
  } catch (error) {
    if (error instanceof QueryError) return `${error.fault}: ${error.message}`;
    throw error;
  }
}

describe('the policy on the examples', () => {
  test.each(CASES.map((one) => [one.id, one] as const))('%s', (_id, { kind, consumer }) => {
    const verdict = check(consumer);
    if (kind === 'accept') expect(verdict).toBe('accept');
    else expect(verdict).not.toBe('accept');
  });
});
