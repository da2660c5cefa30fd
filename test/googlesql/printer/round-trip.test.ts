/**
 * Everything that the resolver accepts is printed, and what is printed means the same: our resolver gives its result the
 * same columns, and so does Google's analyser.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueryError } from '../../../src/errors';
import { parseQuery } from '../../../src/googlesql';
import { COMPOSED_BOUNDS } from '../../../src/googlesql/bounds';
import { printQuery } from '../../../src/googlesql/printer';
import { resolveQuery } from '../../../src/googlesql/resolver';
import type { ResolvedQuery } from '../../../src/googlesql/resolved';
import { typeText } from '../../../src/googlesql/type-names';
import type { BoundParameter, Engine } from '../../../src/engines/contract';
import { stubText } from '../../../src/engines/bigquery/stub';
import { openEngineOn, overLocalBigQuery } from '../../engines/over-local-bigquery';
import { columnsText, environment, resolve, tables } from '../environment';

interface Case {
  readonly sql: string;
  readonly columns?: string;
}

const cases = readFileSync(join(__dirname, '..', 'resolver-cases.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter(({ columns }) => columns !== undefined);

const read = (sql: string): ResolvedQuery => resolveQuery(parseQuery(sql, COMPOSED_BOUNDS), sql, environment);

describe('printed queries', () => {
  it('are all that the resolver accepts', () => {
    expect(cases.length).toBeGreaterThan(700);
  });

  it.each(cases.map(({ sql, columns }) => [sql, columns] as const))('%s', (sql, columns) => {
    const printed = printQuery(resolve(sql));
    try {
      expect(columnsText(read(printed))).toBe(columns);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      const { start, end } = error.span ?? { start: 0, end: 0 };
      throw new Error(`${error.message} at ${printed.slice(start, end)} in ${printed}`, { cause: error });
    }
  });
});

const PARAMETER_VALUES = { STRING: '', INT64: '0', FLOAT64: '0', BOOL: 'false' } as const;

overLocalBigQuery('printed queries on the local BigQuery', (local) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngineOn(local().host);
  });
  afterAll(() => engine.close());

  const limits = () => ({ deadline: performance.now() + 30_000, signal: new AbortController().signal });
  const typed = [...environment.parameters].filter(([, { kind }]) => kind in PARAMETER_VALUES);
  const parameters = typed.map(([name, { kind }]) => ({
    name,
    type: kind as BoundParameter['type'],
    value: PARAMETER_VALUES[kind as keyof typeof PARAMETER_VALUES],
  }));

  it.each(cases.map(({ sql }) => [sql] as const))('%s', async (sql) => {
    const described = async (text: string): Promise<string> => {
      const named = parameters.filter(({ name }) => new RegExp(`@${name}\\b`, 'i').test(text));
      const columns = await engine.describe(stubText(text, [...tables.values()]).sql, named, limits());
      return columns.map(({ name, type }) => `${name} ${typeText(type)}`).join(', ');
    };
    const sent = await described(sql).catch(() => null);
    // What the local BigQuery does not take as it was written says nothing of what is printed.
    if (sent === null) return;
    expect(await described(printQuery(resolve(sql)))).toBe(sent);
  });
});
