/** Analyses of requests to the two stored endpoints over `test/fixture`, alike on every engine. */
import { EXECUTION_FAULTS, UNKNOWN_EXECUTION_FAULT } from '../../packages/duckdb-engine/src/contract/execution-faults';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { QueryError, ServiceError } from '../../src/errors';
import { Metrics } from '../../src/metrics/metrics';
import { describeColumns } from '../../packages/googlesql/src/descriptions';
import { analyse, schemaOf } from '../../src/run/analyse';
import { run } from '../../src/run/run';
import type { Services } from '../../src/run/services';
import { queriesOf, SANDBOX_CASES } from '../case-files';
import { FIXTURE_END } from '../../packages/duckdb-engine/test/fixture-engine';
import { services } from '../http/served';
import { CASES } from '../lql/case-file';
import { TestRequest } from '../run/request';
import { Consumer } from '../sandbox/consumer';
import { oneOf } from '../scale';

interface Analysis {
  readonly kind: string;
  readonly lqlAsSql: string | null;
  readonly tables: readonly string[];
  readonly parameters: readonly Record<string, unknown>[];
  readonly columns: readonly { name: string; type: string }[] | null;
  readonly errors: readonly Record<string, unknown>[];
  readonly warnings: readonly Record<string, unknown>[];
  readonly limits: Record<string, number>;
  readonly estimate: Record<string, unknown> | null;
}

/** Of the LQL cases, with a table where they name none. */
const lqlCases = (): string[] =>
  CASES.map(({ lql }) => lql)
    .filter((lql) => lql.trim() !== '')
    .map((lql) => (/(?:^|\s)f:/.test(lql) ? lql : `f:edge_logs ${lql}`));

const ON_VALUES: readonly string[] = [...Object.values<string>(EXECUTION_FAULTS), UNKNOWN_EXECUTION_FAULT];

const CORPUS: readonly (readonly ['sql' | 'lql', readonly string[]])[] = [
  [
    'sql',
    [
      ...['log-queries.jsonl', 'log-queries-lenient.jsonl', 'log-queries-error.jsonl'].flatMap(queriesOf),
      ...SANDBOX_CASES.map(({ consumer }) => consumer),
    ],
  ],
  ['lql', lqlCases()],
];

export function analysisSuite(name: string, open: () => Promise<Engine>): void {
  describe(`analyses on ${name}`, () => {
    let engine: Engine;
    let shared: Services;
    let consumer: Consumer;
    beforeAll(async () => {
      engine = await open();
      consumer = await Consumer.over(engine);
      const endpoints = ['logs.all', 'usage.api-counts'].map((endpoint) => consumer.endpoint(endpoint));
      shared = { ...services({ engine, endpoints, timeout: 30_000 }, new Metrics()), now: () => FIXTURE_END };
    }, 60_000);
    afterAll(async () => {
      await shared.gate.close();
      await consumer.close();
    });

    type Options = { readonly key?: string; readonly endpoint?: string };
    const request = (values: Readonly<Record<string, string>>, { key = 'all', endpoint = 'logs.all' }: Options = {}) =>
      new TestRequest(endpoint, { key, values });
    const analysed = async (values: Readonly<Record<string, string>>, options: Options = {}): Promise<Analysis> =>
      (await analyse(request({ project: 'default', ...values }, options), shared)) as Analysis;
    const sql = (text: string): Promise<Analysis> => analysed({ sql: text });

    it.each(CORPUS)(
      'says of the judged %s what a run says: the same columns, or none',
      async (language, texts) => {
        let withColumns = 0;
        const tried = oneOf(8, texts);
        for (const text of tried) {
          const { columns, errors } = await analysed({ [language]: text });
          const ran = await consumer.ask({ language, text }).catch((error: unknown) => error as ServiceError);
          const outcome = ran instanceof Error ? null : describeColumns(ran.columns);
          // Only a run meets values.
          const onValues = ran instanceof ServiceError && ON_VALUES.includes(ran.message);
          if (!onValues)
            expect([text, errors, columns]).toEqual([
              text,
              ran instanceof Error ? [expect.anything(), ...errors.slice(1)] : [],
              outcome,
            ]);
          if (outcome !== null) withColumns++;
        }
        expect(withColumns).toBeGreaterThan(tried.length / 5);
      },
      300_000,
    );

    it('gives every fault with its place in code points and UTF-16', async () => {
      const { errors, columns, kind } = await sql("select '🐘', idd,\n tmestamp, nofunction(1) from edge_logs");
      expect([kind, columns]).toEqual(['sql', null]);
      expect(
        errors.map(({ near, line, column, start, end, startUtf16 }) => [near, line, column, start, end, startUtf16]),
      ).toEqual([
        ['idd', 1, 13, 12, 15, 13],
        ['tmestamp', 2, 2, 18, 26, 19],
        ['nofunction', 2, 12, 28, 38, 29],
      ]);
    });

    it('translates LQL, and finds faults in it', async () => {
      const { kind, lqlAsSql, tables, columns, errors } = await analysed({ lql: 'f:edge_logs timeout s:id' });
      expect([kind, tables, errors, columns]).toEqual(['lql', ['edge_logs'], [], [{ name: 'id', type: 'STRING' }]]);
      expect(lqlAsSql).toContain('edge_logs');
      const faulty = await analysed({ lql: 'f:edge_logs s:idd metadata.reqest.path:x' });
      expect(faulty.errors.map(({ near }) => near)).toEqual(['idd', 'metadata.reqest.path']);
      const unread = await analysed({ lql: 'f:edge_logs "timeout' });
      expect(unread.errors).toMatchObject([
        { reason: 'invalidLql', code: 'unterminated_string', start: 12, column: 13 },
      ]);
    });

    it.each([
      ['a OR b', { lql: 'f:edge_logs a OR b' }, /LQL has no OR/],
      ['SQL as LQL', { lql: 'select 1 from edge_logs' }, /reads like SQL/],
      ['an unknown parameter', { projct: 'x' }, /no such parameter/],
      ['a name in double quotes', { sql: 'select "id" from edge_logs' }, /"id" is a text here, not the column id/],
      ['a star over wide rows', { sql: 'select * from edge_logs' }, /SELECT \* gives \d+ fields/],
    ])('warns of %s', async (_what, values, message) => {
      const { warnings } = await analysed(values);
      expect(warnings).toContainEqual(expect.objectContaining({ message: expect.stringMatching(message) as string }));
    });

    it('says everything that is wrong with parameters, where a run names the first', async () => {
      const values = { project: '', iso_timestamp_start: 'yesterday', iso_timestamp_end: 'x', timestamps: 'ms' };
      const { errors } = await analysed({ ...values, page_size: '0' });
      const named = ['project', 'iso_timestamp_start', 'iso_timestamp_end', 'timestamps', 'page_size'];
      expect(errors).toMatchObject(named.map((parameter) => ({ reason: 'invalidParameter', parameter })));
      for (const { parameter, message } of errors) {
        const alone = {
          project: 'default',
          [String(parameter)]: { ...values, page_size: '0' }[String(parameter)] ?? '',
        };
        await expect(run(request(alone), shared)).rejects.toMatchObject({ reason: 'invalidParameter', message });
      }
      const ofQuery = await analysed({ sql: 'select id from edge_logs', page_size: '5', export: 'yes' });
      expect(ofQuery.errors).toMatchObject([{ parameter: 'export' }, { parameter: 'page_size' }]);
      await expect(analysed({ export: 'true' })).rejects.toMatchObject({ reason: 'accessDenied' });
      const header = new TestRequest('logs.all', {
        key: 'all',
        values: { project: 'default' },
        headers: { 'lf-endpoint-redact-pii': 'perhaps' },
      });
      expect(((await analyse(header, shared)) as Analysis).errors).toMatchObject([
        { reason: 'invalidParameter', parameter: 'LF-ENDPOINT-REDACT-PII' },
      ]);
    });

    it('has unknown parameters as faults where the endpoint ignores none', async () => {
      const strict = { ...consumer.endpoint('logs.all'), name: 'strict', strictParams: true };
      const catalogue = { ...shared.catalogue, find: () => strict };
      const values = { project: 'default', projct: 'x', elsewhere: 'y' };
      const { errors, warnings } = (await analyse(request(values), { ...shared, catalogue })) as Analysis;
      expect(errors).toMatchObject([
        { reason: 'invalidParameter', parameter: 'projct', hint: 'Did you mean project?' },
        { reason: 'invalidParameter', parameter: 'elsewhere' },
      ]);
      expect(warnings.filter(({ parameter }) => parameter !== undefined)).toEqual([]);
    });

    it('answers the stored query alone', async () => {
      const { kind, columns, tables, limits, estimate } = await analysed({});
      expect([kind, tables, estimate]).toEqual(['stored', ['edge_logs'], null]);
      expect(columns?.map((column) => column.name)).toEqual(['id', 'timestamp', 'event_message', 'metadata']);
      expect(limits).toEqual({ maxRows: 1000, timeout: 30 });
    });

    it('opens the wall for nobody: a pinned key gets what others get, but no value and no estimate', async () => {
      const text = 'select count(*) as n from edge_logs';
      const pinned = await analysed({ project: '', sql: text, estimate: 'true' }, { key: 'pinned' });
      expect(pinned.columns).toEqual([{ name: 'n', type: 'INT64' }]);
      expect(pinned.estimate).toBeNull();
      expect(JSON.stringify(pinned)).not.toContain('abc');
      expect(pinned.parameters[0]).toMatchObject({ name: 'project', fixed: true });
      const outside = await analysed({ project: '', sql: 'select id from raw_edge_logs' }, { key: 'pinned' });
      expect(outside.errors).toMatchObject([{ reason: 'sandboxViolation' }]);
      const unheard = await analysed({ project: '', sql: 'select id from nosuch_table' }, { key: 'pinned' });
      const withoutNames = ({ errors }: Analysis) =>
        JSON.stringify(errors.map(({ reason, allowed }) => ({ reason, allowed })));
      expect(withoutNames(unheard)).toBe(withoutNames(outside));
      await expect(analysed({ project: 'other', sql: text }, { key: 'pinned' })).rejects.toMatchObject({
        reason: 'accessDenied',
      });
      await expect(analysed({ sql: text }, { key: 'masked' })).rejects.toMatchObject({ reason: 'accessDenied' });
    });

    it('runs nothing', async () => {
      const ran: string[] = [];
      const watched = {
        ...shared,
        engine: {
          ...shared.engine,
          run: (query: { sql: string }) => {
            ran.push(query.sql);
            return Promise.reject(new QueryError('invalidQuery', 'It ran.', null));
          },
        },
      };
      await analyse(request({ project: 'default', sql: 'select id from edge_logs' }), watched);
      expect(ran).toEqual([]);
      await expect(
        run(request({ project: 'default', sql: 'select id from edge_logs limit 1' }), watched),
      ).rejects.toThrow();
      expect(ran).toHaveLength(1);
    });

    it('gives the schema that a key may query', async () => {
      interface Schema {
        readonly tables: readonly {
          name: string;
          columns: readonly { name: string; type: string; fields?: unknown[] }[];
        }[];
        readonly functions: readonly { name: string; signatures: readonly string[] }[];
      }
      const schema = (await schemaOf(request({}, { key: 'pinned' }), shared)) as Schema;
      expect(schema.tables.map((table) => table.name)).toEqual(consumer.endpoint('logs.all').cteTables);
      const metadata = schema.tables[0]?.columns.find((column) => column.name === 'metadata');
      expect(metadata).toMatchObject({ type: 'ARRAY<STRUCT>' });
      expect(schema.functions).toContainEqual(
        expect.objectContaining({
          name: 'STARTS_WITH',
          signatures: expect.arrayContaining(['STARTS_WITH(STRING, STRING) -> BOOL']) as string[],
        }),
      );
      const masked = (await schemaOf(request({}, { key: 'masked' }), shared)) as Schema;
      expect([masked.tables, masked.functions]).toEqual([[], []]);
    });
  });
}
