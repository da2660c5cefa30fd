/**
 * The sample queries of log users on an engine: `test/cases/log-queries*.jsonl` against the answers of Google's
 * GoogleSQL reference implementation.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../src/engines/contract';
import type { SqlType } from '../../src/googlesql/types';
import { Consumer } from './consumer';

interface Case {
  readonly id: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
  readonly ordered: boolean;
}

type Rows = readonly (readonly unknown[])[];

interface Expected {
  readonly id: string;
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows: Rows;
  /** Other answers that the rules of approximate functions allow. */
  readonly alternatives?: readonly Rows[];
}

/** @param open opens the engine over `test/fixture`, its clock at the end of it; once */
export function answersLogQueries(name: string, open: () => Promise<Engine>, { fenced = false } = {}): void {
  describe(`log queries on ${name}`, () => {
    let consumer: Consumer;
    beforeAll(async () => {
      consumer = await Consumer.over(await open(), { fenced });
    }, 60_000);
    afterAll(() => consumer.close());

    const expected = new Map(
      ['log-queries-expected.jsonl', 'log-queries-lenient-expected.jsonl']
        .flatMap((file) => lines<Expected>(file))
        .map((one) => [one.id, one]),
    );
    const cases = [...lines<Case>('log-queries.jsonl'), ...lines<Case>('log-queries-lenient.jsonl')];

    test.each(cases.map((one) => [one.id, one] as const))('%s is answered as BigQuery does', async (id, one) => {
      const want = expected.get(id);
      if (want === undefined) throw new Error(`No expectation for ${id}.`);
      const got = await consumer.sql(one.sql, one.params);
      expect(got.columns.map((column) => [column.name, typeName(column.type)])).toEqual(want.columns);
      const rows = got.rows.map((row) => Object.values(JSON.parse(row) as object));
      const answers = [want.rows, ...(want.alternatives ?? [])];
      if (answers.some((answer) => sameRows(rows, answer, one.ordered))) return;
      expect(rows).toEqual(want.rows);
    });

    test.each(lines<Case>('log-queries-error.jsonl').map((one) => [one.id, one] as const))(
      '%s is answered with an error',
      async (_id, one) => {
        await expect(consumer.sql(one.sql, one.params)).rejects.toMatchObject({ reason: 'invalidQuery' });
      },
    );
  });
}

function lines<T>(file: string): T[] {
  return readFileSync(join(__dirname, '../cases', file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

function typeName(type: SqlType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${typeName(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  const fields = type.fields.map((field) => [field.name, typeName(field.type)].filter(Boolean).join(' '));
  return `STRUCT<${fields.join(', ')}>`;
}

/** Integers beyond 2^53 are `{"int64": "..."}` in the expectations; JSON.parse has rounded ours. */
function same(actual: unknown, expected: unknown): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return actual === expected || Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  }
  if (expected === null || typeof expected !== 'object') return actual === expected;
  if ('int64' in expected) return Number(expected.int64) === actual;
  if (actual === null || typeof actual !== 'object') return false;
  const [got, want] = [Object.entries(actual), Object.entries(expected)];
  return got.length === want.length && want.every(([key, value], i) => got[i]?.[0] === key && same(got[i][1], value));
}

function sameRows(actual: Rows, expected: Rows, ordered: boolean): boolean {
  if (actual.length !== expected.length) return false;
  if (ordered) return expected.every((row, i) => same(actual[i], row));
  const rest = [...actual];
  return expected.every((row) => {
    const at = rest.findIndex((candidate) => same(candidate, row));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
