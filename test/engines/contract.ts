/** What every engine does alike, over the rows of `test/fixture`. An engine's own test file opens it and calls this. */
import { EXECUTION_FAULTS } from '../../packages/duckdb-engine/src/contract/execution-faults';
import { ServiceError } from '../../packages/duckdb-engine/src/contract/service-error';
import { QueryError } from '../../packages/googlesql/src/errors';
import { redactRows } from '../../src/redaction/redaction';
import type {
  BoundParameter,
  Engine,
  EngineQuery,
  EngineResult,
  ResultHead,
  LineSink,
  RunLimits,
} from '../../packages/duckdb-engine/src/contract/contract';
import { columnsOf } from '../../packages/googlesql/src/rest-schema';
import type { TableSchema } from '../../packages/googlesql/src/types';
import { fieldsOf } from '../../packages/duckdb-engine/test/fields';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';

export interface OpenEngine {
  readonly engine: Engine;
  /** Gives back what `open` made beside the engine. */
  readonly dispose?: () => Promise<void>;
}

interface Options {
  readonly parameters?: readonly BoundParameter[];
  readonly maxRows?: number;
  readonly hideBytes?: boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds from now. */
  readonly within?: number;
}

const limits = ({ within: milliseconds = 50_000, signal }: Options = {}): RunLimits => within(milliseconds, signal);

/** A query that no engine finishes in seconds: the number of pairs is squared again and again. */
const HEAVY = `
  SELECT COUNT(*) AS n
  FROM raw_edge_logs a, raw_edge_logs b, raw_edge_logs c, raw_edge_logs d, raw_edge_logs e
  WHERE LENGTH(CONCAT(a.id, b.id, c.id, d.id, e.id)) = 7`;

/**
 * @param open Opens the engine over `test/fixture`, once for the whole suite.
 * @param clock Microseconds since the epoch that the engine was told to take for now.
 */
export function engineContract(name: string, open: () => Promise<OpenEngine>, clock: bigint): void {
  describe(`${name} as an engine`, () => {
    let opened: OpenEngine;
    beforeAll(async () => {
      opened = await open();
    }, 60_000);
    afterAll(async () => {
      await opened.engine.close();
      await opened.dispose?.();
    });

    const run = (sql: string, options: Options = {}): Promise<EngineResult> =>
      opened.engine.run(
        queryOf(sql, {
          parameters: options.parameters ?? [],
          maxRows: options.maxRows ?? 1000,
          hideBytes: options.hideBytes ?? false,
        }),
        limits(options),
      );
    const rows = async (sql: string, options?: Options): Promise<readonly string[]> => (await run(sql, options)).rows;
    const row = async (sql: string, options?: Options): Promise<string> => (await rows(sql, options)).join('\n');
    const failure = async (sql: string, options?: Options): Promise<unknown> =>
      run(sql, options).catch((e: unknown) => e);
    const fault = async (sql: string, options?: Options): Promise<QueryError> => {
      const error = await failure(sql, options);
      expect(error).toBeInstanceOf(QueryError);
      return error as QueryError;
    };
    /** The part of the text that an error points at. */
    const pointedAt = (sql: string, { span }: QueryError): string | null =>
      span === null ? null : sql.slice(span.start, span.end);

    describe('tables', () => {
      it('gives the schemas of those that are there, by the paths that were given', async () => {
        const found = [
          'raw_edge_logs',
          'logs.raw_edge_logs',
          'test.logs.raw_edge_logs',
          'logs.raw_edge_*',
          'raw_edge*',
        ];
        const paths = [...found.map((path) => path.split('.')), ['raw_nosuch'], ['nosuch*']];
        const { schemas } = await opened.engine.tables(paths, limits());
        expect([...schemas.keys()]).toEqual(found);
        const described = await opened.engine.describe('SELECT * FROM raw_edge_logs', [], limits());
        for (const path of found) expect(schemas.get(path)?.columns).toEqual(described);
        const suffix = { name: '_TABLE_SUFFIX', type: { kind: 'STRING' } };
        expect(found.map((path) => schemas.get(path)?.pseudo ?? [])).toEqual([[], [], [], [suffix], [suffix]]);
      });

      it('are named by a wildcard, each of their rows with what stands for the star', async () => {
        const count = await row('SELECT COUNT(*) AS n FROM raw_edge_logs');
        expect(await row('SELECT COUNT(*) AS n FROM `test.logs.raw_edge_*`')).toBe(count);
        const named = "SELECT COUNT(*) AS n FROM logs.`raw*` WHERE _TABLE_SUFFIX = '_edge_logs'";
        const parameters: readonly BoundParameter[] = [{ name: 'suffix', type: 'STRING', value: 'logs' }];
        expect(
          await row('SELECT COUNT(*) AS n FROM `raw_edge_*` AS t WHERE t._table_suffix = @suffix', { parameters }),
        ).toBe(count);
        expect(await rows("SELECT 1 AS one FROM `raw_edge_*` WHERE _TABLE_SUFFIX > 'logs'")).toEqual([]);
        const distinct = 'WITH e AS (SELECT *, _TABLE_SUFFIX AS s FROM `raw_edge_*`) SELECT DISTINCT s FROM e';
        expect(await rows(distinct)).toEqual(['{"s":"logs"}']);
        const hidden = 'WITH e AS (SELECT * FROM `raw_edge_*`) SELECT _TABLE_SUFFIX AS s FROM e';
        expect(await fault(hidden)).toMatchObject({ fault: 'unknownField' });
        for (const other of ['SELECT 1 AS one FROM `nosuch*`', named])
          expect(await fault(other)).toMatchObject({ fault: 'invalidQuery' });
      });
    });

    describe('values', () => {
      it.each([
        ['BOOL', 'true', 'true'],
        ['INT64', '-42', '-42'],
        ['INT64 beyond 2^53, every digit', '9007199254740993', '9007199254740993'],
        ['the least INT64', '-9223372036854775808', '-9223372036854775808'],
        ['FLOAT64', '1.5', '1.5'],
        ['a whole FLOAT64', 'CAST(3 AS FLOAT64)', '3'],
        ['NaN', `CAST('nan' AS FLOAT64)`, '"NaN"'],
        ['infinity', `CAST('inf' AS FLOAT64)`, '"Infinity"'],
        ['negative infinity', `CAST('-inf' AS FLOAT64)`, '"-Infinity"'],
        ['NUMERIC, exact', `NUMERIC '12345678901234567890.123456789'`, '"12345678901234567890.123456789"'],
        ['NUMERIC without trailing zeros', `NUMERIC '1.50'`, '"1.5"'],
        ['BIGNUMERIC', `BIGNUMERIC '-0.5'`, '"-0.5"'],
        ['STRING', `'a "quoted" \\\\ line\\n'`, JSON.stringify('a "quoted" \\ line\n')],
        ['STRING of many scripts', `'größe 監視 🐘'`, '"größe 監視 🐘"'],
        ['BYTES as base64', `b'\\x00\\xff\\x10'`, '"AP8Q"'],
        ['DATE', `DATE '2026-09-30'`, '"2026-09-30"'],
        ['TIME', `TIME '11:20:00'`, '"11:20:00"'],
        ['TIME with a fraction', `TIME '11:20:00.250'`, expect.stringMatching(/^"11:20:00\.25(0000)?"$/)],
        ['DATETIME', `DATETIME '2026-09-30T11:20:00'`, '"2026-09-30T11:20:00"'],
        ['TIMESTAMP', `TIMESTAMP '2026-09-30 11:20:00.123456+00'`, '1790767200123456'],
        ['TIMESTAMP before the epoch', `TIMESTAMP '1969-12-31 23:59:59.999999+00'`, '-1'],
        ['JSON', `JSON '{"b":[1,null,{"c":"d"}]}'`, '{"b":[1,null,{"c":"d"}]}'],
        ['JSON null', `JSON 'null'`, 'null'],
        ['an array', '[3, 1, 2]', '[3,1,2]'],
        ['an empty array', 'CAST([] AS ARRAY<STRING>)', '[]'],
        ['a null array', 'CAST(NULL AS ARRAY<STRING>)', '[]'],
        ['a record', `STRUCT(1 AS a, 'x' AS b)`, '{"a":1,"b":"x"}'],
        ['a null record', 'CAST(NULL AS STRUCT<a INT64>)', 'null'],
        ['a null array in a record', 'STRUCT(CAST(NULL AS ARRAY<INT64>) AS a)', '{"a":[]}'],
      ])('%s', async (_what, sql, json) => {
        const text = await row(`SELECT ${sql} AS v`);
        const value = /^\{\s*"v"\s*:\s*(.*)\}$/s.exec(text)?.[1];
        expect(value).toEqual(json);
      });

      it.each('BOOL INT64 FLOAT64 NUMERIC STRING BYTES DATE TIME DATETIME TIMESTAMP JSON'.split(' '))(
        'NULL of %s is null',
        async (type) => {
          expect(await row(`SELECT CAST(NULL AS ${type}) AS v`)).toBe('{"v":null}');
        },
      );

      it('timestamps are microseconds at any depth', async () => {
        const sql = `SELECT [STRUCT(TIMESTAMP '1970-01-01 00:00:01+00' AS t, [TIMESTAMP '1970-01-01 00:00:02+00'] AS u)] AS v`;
        expect(await row(sql)).toBe('{"v":[{"t":1000000,"u":[2000000]}]}');
      });

      it('bytes are null where they are hidden, at any depth', async () => {
        const sql = `SELECT b'a' AS b, [STRUCT(b'a' AS c, 'x' AS d)] AS e`;
        expect(await row(sql, { hideBytes: true })).toBe('{"b":null,"e":[{"c":null,"d":"x"}]}');
      });

      it('unnamed columns are f0_, f1_ by their count', async () => {
        expect(await row(`SELECT 1, 'x' AS named, 2`)).toBe('{"f0_":1,"named":"x","f1_":2}');
      });
    });

    describe('redaction', () => {
      const shown = async (sql: string): Promise<string> => {
        const { rows: found } = await run(sql, { hideBytes: true });
        return redactRows(found).join('\n');
      };

      // What is masked of a text, the tests of redaction say.
      it('masks what a row says, at any depth, and no number', async () => {
        const sql = `SELECT STRUCT(['x 1.2.3.4', 'y'] AS l) AS a, JSON '{"1.2.3.4":"ana@example.com","n":12345678901234567890}' AS j, b'1.2.3.4' AS b, 9007199254740993 AS n`;
        expect(await shown(sql)).toBe(
          '{"a":{"l":["x REDACTED","y"]},"j":{"REDACTED":"REDACTED","n":12345678901234567890},"b":null,"n":9007199254740993}',
        );
      });

      it('leaves no address of the fixture in any row of it', async () => {
        const text = await shown('SELECT * FROM raw_edge_logs');
        expect(text).not.toMatch(/\b(203\.0\.113|198\.51\.100|192\.0\.2)\.\d+|2001:db8/);
        expect(text).toContain('REDACTED');
      });
    });

    describe('columns', () => {
      const sql = `
        SELECT 1 AS i, [STRUCT('x' AS s, TIMESTAMP '2026-01-01 00:00:00+00' AS t)] AS r, DATE '2026-01-01' AS d`;
      const columns = columnsOf(fieldsOf('i INT64, r RECORD*(s STRING, t TIMESTAMP), d DATE'));

      it('come with the result', async () => {
        expect((await run(sql)).columns).toEqual(columns);
      });

      it('are described without a run', async () => {
        expect(await opened.engine.describe(sql, [], limits())).toEqual(columns);
      });

      it('of one name, ignoring case, are refused in a run and in a description', async () => {
        const twice = 'SELECT 1 AS Name, 2 AS name';
        expect(await fault(twice)).toMatchObject({ fault: 'invalidQuery' });
        await expect(opened.engine.describe(twice, [], limits())).rejects.toMatchObject({ fault: 'invalidQuery' });
      });
    });

    describe('parameters', () => {
      it('of every type are bound', async () => {
        const parameters: BoundParameter[] = [
          { name: 's', type: 'STRING', value: `it's "quoted" -- ; \\ ü` },
          { name: 'i', type: 'INT64', value: '9007199254740993' },
          { name: 'f', type: 'FLOAT64', value: '0.1' },
          { name: 'b', type: 'BOOL', value: 'false' },
        ];
        const sql = 'SELECT @s AS s, @i AS i, @f AS f, @b AS b, @i + 1 AS j, NOT @b AS c';
        expect(await row(sql, { parameters })).toBe(
          `{"s":${JSON.stringify(parameters[0]!.value)},"i":9007199254740993,"f":0.1,"b":false,"j":9007199254740994,"c":true}`,
        );
      });

      it('are no part of the text: another value of the same text is another answer', async () => {
        const sql = 'SELECT COUNT(*) AS n FROM raw_edge_logs WHERE project = @project';
        const count = (value: string): Promise<string> =>
          row(sql, { parameters: [{ name: 'project', type: 'STRING', value }] });
        expect(await count('default')).toBe('{"n":78}');
        expect(await count('other')).toBe('{"n":16}');
        expect(await count(`' OR true --`)).toBe('{"n":0}');
      });
    });

    describe('list parameters', () => {
      it('of every type are bound as arrays, in their order', async () => {
        const parameters: BoundParameter[] = [
          { name: 's', type: 'ARRAY<STRING>', value: [`it's "quoted"`, '', 'ü', 'ü'] },
          { name: 'i', type: 'ARRAY<INT64>', value: ['9007199254740993', '-1'] },
          { name: 'f', type: 'ARRAY<FLOAT64>', value: ['0.1', '3'] },
          { name: 'b', type: 'ARRAY<BOOL>', value: ['true', 'false'] },
        ];
        expect(await row('SELECT @s AS s, @i AS i, @f AS f, @b AS b, @i[OFFSET(0)] + 1 AS j', { parameters })).toBe(
          `{"s":["it's \\"quoted\\"","","ü","ü"],"i":[9007199254740993,-1],"f":[0.1,3],"b":[true,false],"j":9007199254740994}`,
        );
        const read = `SELECT STRING_AGG(x, '|' ORDER BY o DESC) AS joined, ARRAY_LENGTH(@s) AS n, 'ü' IN UNNEST(@s) AS one,
          'x' IN UNNEST(@s) AS other, 3 IN UNNEST(@f) AS whole FROM UNNEST(@s) AS x WITH OFFSET AS o`;
        expect(await row(read, { parameters: parameters.filter(({ name }) => 'sf'.includes(name)) })).toBe(
          `{"joined":"ü|ü||it's \\"quoted\\"","n":4,"one":true,"other":false,"whole":true}`,
        );
      });

      it('that are empty hold nothing', async () => {
        const parameters: BoundParameter[] = [
          { name: 's', type: 'ARRAY<STRING>', value: [] },
          { name: 'i', type: 'ARRAY<INT64>', value: [] },
        ];
        const sql = `SELECT 'x' IN UNNEST(@s) AS a, 1 NOT IN UNNEST(@i) AS b, NOT EXISTS (SELECT 1 FROM UNNEST(@i)) AS c,
          (SELECT COUNT(*) FROM UNNEST(@s)) AS d`;
        expect(await row(sql, { parameters })).toBe('{"a":false,"b":true,"c":true,"d":0}');
      });
    });

    describe('bounds', () => {
      it('a result of exactly maxRows is whole', async () => {
        const result = await run('SELECT n FROM UNNEST([1, 2, 3]) AS n ORDER BY n', { maxRows: 3 });
        expect(result).toMatchObject({ rows: ['{"n":1}', '{"n":2}', '{"n":3}'], truncated: false });
      });

      it('a longer one is cut and says so', async () => {
        const result = await run('SELECT n FROM UNNEST([1, 2, 3]) AS n ORDER BY n', { maxRows: 2 });
        expect(result).toMatchObject({ rows: ['{"n":1}', '{"n":2}'], truncated: true });
      });

      it('an empty result has columns and no rows', async () => {
        const result = await run('SELECT id FROM raw_edge_logs WHERE false');
        expect(result).toMatchObject({
          rows: [],
          truncated: false,
          columns: [{ name: 'id', type: { kind: 'STRING' } }],
        });
      });
    });

    describe('faults', () => {
      it('an unknown column is named by its place', async () => {
        const sql = 'SELECT id,\n  nope FROM raw_edge_logs';
        const error = await fault(sql);
        expect(error.fault).toBe('unknownField');
        expect(pointedAt(sql, error)).toBe('nope');
      });

      it('an unknown table is named by its place', async () => {
        const sql = 'SELECT 1 AS one FROM missing_logs';
        const error = await fault(sql);
        expect(error.fault).toBe('invalidQuery');
        expect(pointedAt(sql, error) ?? 'missing_logs').toContain('missing_logs');
      });

      it('a text that is no query is a fault', async () => {
        expect((await fault('SELECT FROM WHERE')).fault).toBe('invalidQuery');
      });

      it.each([
        ['a cast', `SELECT CAST(id AS INT64) AS v FROM raw_edge_logs`],
        ['a division', `SELECT 1 / (LENGTH(id) - LENGTH(id)) AS v FROM raw_edge_logs`],
        ['a subscript', `SELECT SPLIT(id, '-')[OFFSET(99)] AS v FROM raw_edge_logs`],
        ['a regular expression', `SELECT REGEXP_CONTAINS(id, CONCAT('(', id)) AS v FROM raw_edge_logs`],
        ['a timestamp', `SELECT PARSE_TIMESTAMP('%F', id) AS v FROM raw_edge_logs`],
        ['an overflow', `SELECT 9223372036854775807 + LENGTH(id) AS v FROM raw_edge_logs`],
      ])('%s that fails on a value has words without the value', async (_what, sql) => {
        const error = await fault(sql);
        expect(error.fault).toBe('invalidQuery');
        const ids = (await rows('SELECT id FROM raw_edge_logs')).map((text) => (JSON.parse(text) as { id: string }).id);
        for (const id of ids) expect(error.message).not.toContain(id.slice(0, 8));
      });

      it('SAFE. and SAFE_CAST give NULL instead', async () => {
        expect(await row(`SELECT SAFE_CAST('x' AS INT64) AS a, SAFE_DIVIDE(1, 0) AS b`)).toBe('{"a":null,"b":null}');
      });
    });

    describe('streams', () => {
      const rowsOf = (lines: Uint8Array, count: number): string[] => {
        const rows = Buffer.from(lines).toString().split('\n');
        expect([rows.length, rows.at(-1)]).toEqual([count + 1, '']);
        return rows.slice(0, -1);
      };
      const MANY = `SELECT n, REPEAT('x', 300) AS text FROM UNNEST(GENERATE_ARRAY(1, 12000)) AS n ORDER BY n`;
      const query = (sql: string, more: Partial<EngineQuery> = {}): EngineQuery =>
        queryOf(sql, { maxRows: 20_000, ...more });

      it('gives the rows of a run in parts, behind the columns', async () => {
        const heads: ResultHead[] = [];
        const parts: (readonly string[])[] = [];
        const sink: LineSink = {
          begin: (head) => heads.push(head),
          take: (lines, count) => void parts.push(rowsOf(lines, count)),
        };
        expect(await opened.engine.stream(query(MANY), limits(), sink)).toBe(false);
        expect(heads.map(({ columns }) => columns.map(({ name }) => name))).toEqual([['n', 'text']]);
        expect(parts.length).toBeGreaterThan(5);
        expect(parts.flat()).toEqual((await run(MANY, { maxRows: 20_000 })).rows);
      });

      it('has columns also where there are no rows', async () => {
        const names: string[] = [];
        const sink: LineSink = {
          begin: ({ columns }) => names.push(...columns.map(({ name }) => name)),
          take: () => Promise.reject(new Error('There are no rows.')),
        };
        const none = query('SELECT id, timestamp FROM raw_edge_logs WHERE FALSE');
        expect(await opened.engine.stream(none, limits(), sink)).toBe(false);
        expect(names).toEqual(['id', 'timestamp']);
      });

      it('reports more rows than are wanted, and gives no more than those', async () => {
        let count = 0;
        const sink: LineSink = { begin: () => undefined, take: (_lines, more) => void (count += more) };
        expect(await opened.engine.stream(query(MANY, { maxRows: 5000 }), limits(), sink)).toBe(true);
        expect(count).toBeLessThanOrEqual(5000);
        expect(await opened.engine.stream(query(MANY, { maxRows: 12_000 }), limits(), sink)).toBe(false);
      });

      it('ends with what the sink throws, and answers the next query', async () => {
        const failure = new Error('The client has left.');
        let taken = 0;
        const sink: LineSink = {
          begin: () => undefined,
          take: () => (++taken > 2 ? Promise.reject(failure) : undefined),
        };
        await expect(opened.engine.stream(query(MANY), limits(), sink)).rejects.toBe(failure);
        expect(taken).toBe(3);
        expect(await row('SELECT 1 AS x')).toBe('{"x":1}');
      });

      it('reads no faster than the sink takes, and ends when it is cancelled meanwhile', async () => {
        const cancel = new AbortController();
        let taken = 0;
        const sink: LineSink = {
          begin: () => undefined,
          take: () => {
            taken++;
            return new Promise(() => undefined);
          },
        };
        const ended = opened.engine.stream(query(MANY), limits({ signal: cancel.signal }), sink);
        while (taken === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        cancel.abort();
        await expect(ended).rejects.toThrow();
        expect(taken).toBe(1);
      });

      it.each([5, 11_000])('fails as a run does, however many rows came before: %d', async (n) => {
        const failing = MANY.replace('SELECT n', `SELECT DIV(1, ${n} - n) AS v, n`).replace(' ORDER BY n', '');
        const error = await fault(failing, { maxRows: 20_000 });
        expect([error.fault, error.message]).toEqual(['invalidQuery', EXECUTION_FAULTS.division]);
        const sink: LineSink = { begin: () => undefined, take: () => undefined };
        await expect(opened.engine.stream(query(failing), limits(), sink)).rejects.toMatchObject({
          fault: 'invalidQuery',
        });
      });

      it('sorts rows by their texts where that is asked for', async () => {
        const texts: string[] = [];
        const sink: LineSink = {
          begin: () => undefined,
          take: (lines, count) => void texts.push(...rowsOf(lines, count)),
        };
        const unsorted = `SELECT v FROM UNNEST(['b', 'ä', 'a', 'c']) AS v`;
        await opened.engine.stream(query(unsorted, { sorted: true }), limits(), sink);
        expect(texts).toEqual(['{"v":"a"}', '{"v":"b"}', '{"v":"c"}', '{"v":"ä"}']);
      });

      it.each([
        ['a value', `TIMESTAMP '2026-09-30 11:20:00.5+00'`, '"2026-09-30T11:20:00.500000Z"'],
        ['before the epoch', `TIMESTAMP '1969-12-31 23:59:59.999999+00'`, '"1969-12-31T23:59:59.999999Z"'],
        ['the first year', `TIMESTAMP '0001-01-01 00:00:00+00'`, '"0001-01-01T00:00:00.000000Z"'],
        ['NULL', 'CAST(NULL AS TIMESTAMP)', 'null'],
        [
          'inside records of arrays',
          `[STRUCT([TIMESTAMP '2026-09-30 00:00:00+00'] AS seen)]`,
          '[{"seen":["2026-09-30T00:00:00.000000Z"]}]',
        ],
      ])('has TIMESTAMP as ISO 8601 where that is asked for: %s', async (_what, sql, json) => {
        const { rows: texts } = await opened.engine.run(query(`SELECT ${sql} AS v`, { isoTimestamps: true }), limits());
        expect(texts).toEqual([`{"v":${json}}`]);
      });
    });

    it('now is the clock that the engine was given', async () => {
      expect(await row('SELECT CURRENT_TIMESTAMP() AS now')).toBe(`{"now":${clock}}`);
    });

    describe('inspection', () => {
      const tables: TableSchema[] = [
        { name: 'edge_logs', columns: columnsOf(fieldsOf('id STRING, timestamp TIMESTAMP')) },
      ];
      const inspect = (sql: string): Promise<void> => opened.engine.inspect(sql, tables, [], limits());

      it('passes a statement that reads the given tables', async () => {
        await expect(
          inspect('WITH x AS (SELECT id FROM edge_logs) SELECT COUNT(*) AS n FROM x'),
        ).resolves.toBeUndefined();
      });

      it('refuses one that reads a table of the data set', async () => {
        await expect(inspect('SELECT id FROM raw_edge_logs')).rejects.toBeInstanceOf(QueryError);
      });

      it('knows only the columns that were given', async () => {
        await expect(inspect('SELECT metadata FROM edge_logs')).rejects.toBeInstanceOf(QueryError);
      });
    });

    it('answers a ping', async () => {
      await expect(opened.engine.ping(limits())).resolves.toBeUndefined();
    });

    it('names its data', () => {
      expect(opened.engine.target).toMatch(/\S/);
    });

    // Last: in the local BigQuery these queries go on until it ends, and take their processor time from all that comes after.
    describe('deadlines and cancellation', () => {
      it('a query ends at the deadline, and the next one runs', async () => {
        // It would run for hours.
        const error = await failure(HEAVY, { within: 400 });
        expect(error).toBeInstanceOf(ServiceError);
        expect(error).toMatchObject({ reason: 'deadlineExceeded' });
        expect(await row('SELECT 1 AS one')).toBe('{"one":1}');
      });

      it('a deadline that has passed is not waited for', async () => {
        expect(await failure('SELECT 1 AS one', { within: -1 })).toMatchObject({ reason: 'deadlineExceeded' });
      });

      it('a query nobody waits for ends with AbortError, and the next one runs', async () => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 200);
        const error = await failure(HEAVY, { signal: controller.signal });
        expect(error).toMatchObject({ name: 'AbortError' });
        expect(await row('SELECT 2 AS two')).toBe('{"two":2}');
      });

      it('a signal that was aborted before is AbortError', async () => {
        expect(await failure('SELECT 1 AS one', { signal: AbortSignal.abort() })).toMatchObject({ name: 'AbortError' });
      });

      it('many queries at once all get their answer, also next to cancelled ones', async () => {
        const heavy = Array.from({ length: 3 }, () => failure(HEAVY, { within: 500 }));
        const short = Array.from({ length: 20 }, (_, i) => row(`SELECT ${i} AS i`));
        expect(await Promise.all(short)).toEqual(Array.from({ length: 20 }, (_, i) => `{"i":${i}}`));
        for (const error of await Promise.all(heavy)) expect(error).toMatchObject({ reason: 'deadlineExceeded' });
      });
    });
  });
}
