/**
 * Everything that the resolver accepts is printed, and what is printed means the same: our resolver gives its result the
 * same columns, and so does Google's analyser.
 */
import { QueryError } from '../../../packages/googlesql/src/errors';
import { parseQuery } from '../../../packages/googlesql/src/parser';
import { COMPOSED_BOUNDS } from '../../../packages/googlesql/src/bounds';
import { printQuery } from '../../../packages/googlesql/src/printer';
import { resolveQuery, type Environment } from '../../../packages/googlesql/src/resolver';
import type { ResolvedQuery } from '../../../packages/googlesql/src/resolved';
import { typeText } from '../../../packages/googlesql/src/type-names';
import type { BoundParameter } from '../../../packages/duckdb-engine/src/contract/contract';
import { jsonLines } from '../../case-files';
import { openEngineOn, overLocalBigQuery } from '../../engines/over-local-bigquery';
import { queryOf, within } from '../../../packages/duckdb-engine/test/queries';
import { columnsText, environment, resolve, tables } from '../../../packages/googlesql/test/environment';
import { opened } from '../../opened';
import { oneOf } from '../../scale';

interface Case {
  readonly sql: string;
  readonly columns?: string;
}

const cases = jsonLines<Case>('../packages/googlesql/test/resolver-cases.jsonl').filter(
  ({ columns }) => columns !== undefined,
);

const read = (sql: string): ResolvedQuery => resolveQuery(parseQuery(sql, COMPOSED_BOUNDS), sql, environment);

describe('printed queries', () => {
  it('are all that the resolver accepts', () => {
    expect(cases.length).toBeGreaterThan(700);
  });

  it.each(cases.map(({ sql, columns }) => [sql, columns] as const))('%s', (sql, columns) => {
    const { sql: printed } = printQuery(resolve(sql));
    try {
      expect(columnsText(read(printed))).toBe(columns);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      const { start, end } = error.span ?? { start: 0, end: 0 };
      throw new Error(`${error.message} at ${printed.slice(start, end)} in ${printed}`, { cause: error });
    }
  });
});

/** A few rows of `types_t`, among them NULLs and values that are the same. */
const TYPES_ROWS = `SELECT * FROM UNNEST([
  STRUCT(1 AS i, 1.5 AS f, NUMERIC '1.5' AS n, BIGNUMERIC '2.5' AS bn, 'a' AS s, b'a' AS b, TRUE AS bo, DATE '2026-01-31' AS d,
    TIME '12:34:56' AS ti, DATETIME '2026-01-31 12:34:56' AS dt, TIMESTAMP '2026-01-31 12:34:56.789+00' AS ts,
    INTERVAL 1 DAY AS iv, JSON '{"a": [1, {"b": "x"}]}' AS j, [1, 2, 2] AS ai, ['x', 'y'] AS as_,
    STRUCT(1 AS a, 'p' AS b) AS st, [STRUCT(1 AS a, 'p' AS b), (2, 'q')] AS ast, [0.5, 1.5] AS af),
  (2, -2.25, 0, 0, 'A b', b'\\x00\\xff', FALSE, '2024-02-29', '00:00:00', '2024-02-29 00:00:00', '1969-12-31 23:59:59.5+00',
    INTERVAL '1-2 3 4:5:6.5' YEAR TO SECOND, JSON '"a"', [], [], (2, 'q'), [(2, 'q')], []),
  (2, 0.0, NUMERIC '-7.25', 10, '10', b'', TRUE, '2026-01-31', '23:59:59.999999', '2026-09-30 10:00:00', '2026-09-30 12:00:00+00',
    INTERVAL 0 DAY, JSON '10', [3], ['', 'x'], (NULL, NULL), [], [1.0]),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
])`;

const PARAMETER_VALUES = { STRING: 'default', INT64: '2', FLOAT64: '0.5', BOOL: 'false' } as const;

/** Answers that differ from run to run, or that the language leaves open. */
const OPEN =
  /rand\(|generate_uuid|any_value|array_agg|array\(|string_agg|array_concat_agg|limit|row_number|current_|approx_|first_value|last_value|nth_value|lag\(|lead\(|ntile/i;

overLocalBigQuery('printed queries on the local BigQuery', (local) => {
  const engine = opened(() => openEngineOn(local().host));

  const bound = [...environment.parameters].flatMap(([name, { kind }]): BoundParameter[] =>
    kind === 'STRING' || kind === 'INT64' || kind === 'FLOAT64'
      ? [{ name, type: kind, value: PARAMETER_VALUES[kind] }]
      : [],
  );

  /** The local BigQuery has no GEOGRAPHY. */
  const withoutGeography: Environment = {
    ...environment,
    findTable: (path) => {
      const table = environment.findTable(path);
      return table && { ...table, columns: table.columns.filter(({ type }) => type.kind !== 'GEOGRAPHY') };
    },
  };

  /** Each table of the tests with a guard that leaves no row out. */
  const head = [...tables.keys()].map((name) => {
    const rows =
      name === 'types_t' ? TYPES_ROWS : `SELECT timestamp, id, event_message, metadata FROM raw_${name} LIMIT 5`;
    return `${name} AS (SELECT *, TRUE AS guard_of FROM (${rows}))`;
  });
  const guards = new Map([...tables.keys()].map((name) => [name, 'guard_of']));
  const sentHead = head.map((text) => text.replace(', TRUE AS guard_of', ''));

  const answer = async (text: string, ctes: readonly string[]) => {
    const used = ctes.filter((cte) => new RegExp(`\\b${cte.split(' ')[0] ?? ''}\\b`, 'i').test(text));
    const sql = `${used.length === 0 ? '' : `WITH ${used.join(', ')} `}(\n${text}\n)`;
    const parameters = bound.filter(({ name }) => new RegExp(`@${name}\\b`, 'i').test(text));
    const { columns, rows } = await engine().run(queryOf(sql, { parameters }), within(30_000));
    return { columns: columns.map(({ name, type }) => `${name} ${typeText(type)}`), rows: [...rows].sort() };
  };

  it.each(oneOf(5, cases).map(({ sql }) => [sql] as const))('%s', async (sql) => {
    const sent = await answer(sql.replace(/;\s*$/, ''), sentHead).catch((error: unknown) => error as Error);
    // What the local BigQuery does not take as it was written says nothing of what is printed.
    if (sent instanceof Error) return;
    const { sql: fenced } = printQuery(resolveQuery(parseQuery(sql), sql, withoutGeography), { guards });
    const printed = await answer(fenced, head).catch((error: unknown) => error as Error);
    if (printed instanceof Error) throw new Error(`${printed.message}: ${fenced}`);
    expect(printed.columns).toEqual(sent.columns);
    expect(printed.rows.length).toBe(sent.rows.length);
    if (!OPEN.test(sql)) expect(printed.rows).toEqual(sent.rows);
  });
});
