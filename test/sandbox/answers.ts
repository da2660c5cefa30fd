/**
 * The sample queries of log users on an engine: `test/cases/log-queries*.jsonl` against the answers of Google's
 * GoogleSQL reference implementation.
 */
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { typeText } from '../../packages/googlesql/src/type-names';
import { jsonLines } from '../case-files';
import { type Rows, sameRows } from '../../packages/duckdb-engine/test/same-value';
import { Consumer } from './consumer';
import { opened } from '../opened';
import { oneOf } from '../scale';

interface Case {
  readonly id: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
  readonly ordered: boolean;
}

interface Expected {
  readonly id: string;
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows: Rows;
  /** Other answers that the rules of approximate functions allow. */
  readonly alternatives?: readonly Rows[];
}

/**
 * @param open opens the engine over `test/fixture`, its clock at the end of it; once
 * @param part one of so many queries is asked
 */
export function answersLogQueries(name: string, open: () => Promise<Engine>, { fenced = false, part = 1 } = {}): void {
  describe(`log queries on ${name}`, () => {
    const consumer = opened(async () => Consumer.over(await open(), { fenced }));

    const expected = new Map(
      ['log-queries-expected.jsonl', 'log-queries-lenient-expected.jsonl']
        .flatMap((file) => jsonLines<Expected>(`cases/${file}`))
        .map((one) => [one.id, one]),
    );
    const cases = [
      ...jsonLines<Case>('cases/log-queries.jsonl'),
      ...jsonLines<Case>('cases/log-queries-lenient.jsonl'),
    ];

    test.each(oneOf(part, cases).map((one) => [one.id, one] as const))(
      '%s is answered as BigQuery does',
      async (id, one) => {
        const want = expected.get(id);
        if (want === undefined) throw new Error(`No expectation for ${id}.`);
        const got = await consumer().sql(one.sql, one.params);
        expect(got.columns.map((column) => [column.name, typeText(column.type)])).toEqual(want.columns);
        const rows = got.rows.map((row) => Object.values(JSON.parse(row) as object));
        const answers = [want.rows, ...(want.alternatives ?? [])];
        if (answers.some((answer) => sameRows(rows, answer, one.ordered))) return;
        expect(rows).toEqual(want.rows);
      },
    );

    test.each(jsonLines<Case>('cases/log-queries-error.jsonl').map((one) => [one.id, one] as const))(
      '%s is answered with an error',
      async (_id, one) => {
        await expect(consumer().sql(one.sql, one.params)).rejects.toMatchObject({ reason: 'invalidQuery' });
      },
    );
  });
}
