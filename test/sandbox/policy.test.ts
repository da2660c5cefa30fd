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

describe('names that a WITH of the query gives', () => {
  test.each([
    'with `a.b` as (select id from edge_logs) select id from `a.b`',
    'with `errors by-hour` as (select id from edge_logs) select id from `errors by-hour` as e',
    'with `A.b` as (select id from edge_logs) from `a.B` |> where true',
  ])('%s is read', (sql) => {
    expect(check(sql)).toBe('accept');
  });

  test.each([
    ['in other parts', 'with `a.b` as (select 1 as x) select x from a.b'],
    [
      'in its own body',
      'with `cloudflare.logs.prod` as (select 1 from `cloudflare.logs.prod`) select 1 from `cloudflare.logs.prod`',
    ],
    ['outside of its query', 'select x from (with `a.b` as (select 1 as x) select x from `a.b`) cross join `a.b`'],
    ['with an escape', 'with `a.b` as (select 1 as x) select x from `a\\x2eb`'],
    ['in another alphabet', 'with `\u0435dge` as (select 1 as x) select x from `\u0435dge`'],
  ])('%s: refused', (_, sql) => {
    expect(check(sql)).toMatch(/^sandboxViolation: Table /);
  });
});

describe('the policy on the examples', () => {
  test.each(CASES.map((one) => [one.id, one] as const))('%s', (_id, { kind, consumer }) => {
    const verdict = check(consumer);
    if (kind === 'accept') expect(verdict).toBe('accept');
    else expect(verdict).not.toBe('accept');
  });
});
