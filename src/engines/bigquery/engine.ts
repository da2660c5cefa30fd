/** BigQuery behind the engine contract, real or local (docs/bigquery.md). */
import type { BreakerState } from '../../concurrency/circuit-breaker';
import { raceLimits, FairSlots } from '@logquay/duckdb-engine/concurrency';
import {
  isWildcard,
  ServiceError,
  type BoundParameter,
  type DryRun,
  type Engine,
  type EngineQuery,
  type EngineResult,
  type LineSink,
  type RunLimits,
  type TableSchemas,
} from '@logquay/duckdb-engine/contract';
import { QueryError, TABLE_SUFFIX, type NamedType, type TableSchema } from '@logquay/googlesql/types';
import { readDescriptions } from '@logquay/googlesql';
import { ApiFailure } from './api-failure';
import { billedBytes, handOn, gather } from './result';
import { BigQueryClient } from './client';
import { DEFAULTS, type BigQueryOptions } from './options';
import { isOperatorsMatter, type SentText, translateFailure } from './query-faults';
import { resultShape } from './api';
import { stubText } from './stub';
import { IsolationCheck } from './isolation-check';

/** Rows of one page of an export: it is in memory as a whole. */
const EXPORT_PAGE = 5_000;

/** Milliseconds that verifying the isolation check may delay the start. */
const VERIFY_TIME = 10_000;

/**
 * BigQuery as an engine. Resolves when the isolation check is verified or BigQuery has not answered; then it is verified
 * with the first consumer query. Never rejects: `ping` shows whether BigQuery answers.
 */
export async function openBigQueryEngine(options: BigQueryOptions): Promise<Engine> {
  const engine = new BigQueryEngine(options);
  await engine.verifyIsolation();
  return engine;
}

class BigQueryEngine implements Engine {
  readonly kind = 'bigquery';
  readonly target: string;
  readonly #options: BigQueryOptions;
  readonly #client: BigQueryClient;
  readonly #queries: FairSlots;
  readonly #dryRuns: FairSlots;
  readonly #isolation: IsolationCheck;
  /** Whether dry runs return a schema, known after the first: some services return none. */
  #describesDry = true;

  constructor(options: BigQueryOptions) {
    const { projectId, dataset, location, emulator, clock, storedQueries, log } = options;
    const slots = options.maxConcurrent ?? DEFAULTS.maxConcurrent;
    this.#options = options;
    this.#client = new BigQueryClient(options);
    this.#queries = new FairSlots({ total: slots, perName: slots });
    this.#dryRuns = new FairSlots({ total: slots, perName: slots });
    this.target = JSON.stringify(['bigquery', projectId, dataset, location, emulator, clock?.text ?? null]);
    this.#isolation = new IsolationCheck({
      storedQueries,
      emulated: emulator !== null,
      dryRun: async ({ sql, parameters }, limits) =>
        (await this.#client.dryRun({ sql, parameters, labels: SANDBOX }, limits)).query,
      log,
    });
  }

  async verifyIsolation(): Promise<void> {
    if (!this.#options.inspectConsumerQueries) return;
    await this.#isolation.verify({ deadline: performance.now() + VERIFY_TIME, signal: new AbortController().signal });
  }

  readonly breaker = (): BreakerState => this.#client.breaker;

  run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    return this.#run(query, limits, 0);
  }

  stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean> {
    // Whoever takes the rows may be waiting when the limits end.
    const ending: LineSink = {
      begin: (head, form) => sink.begin(head, form),
      take: (lines, count) =>
        raceLimits(
          limits,
          async () => sink.take(lines, count),
          () => undefined,
        ),
    };
    const { text, offset } = query.sorted === true ? sorted(query.sql) : { text: query.sql, offset: 0 };
    return this.#translating({ sql: text, offset }, () =>
      this.#queries.use(limits.keyName ?? '', limits, () =>
        this.#client.query({ ...query, sql: text }, limits, (pages) => handOn(pages, query, ending), EXPORT_PAGE),
      ),
    );
  }

  readonly dryRun = async (query: EngineQuery, limits: RunLimits): Promise<DryRun> => {
    const text = { sql: query.sql, offset: 0 };
    const { bytesProcessed, query: known } = await this.#translating(text, () =>
      this.#dryRuns.use(limits.keyName ?? '', limits, () => this.#client.dryRun(query, limits)),
    );
    if (bytesProcessed === null) throw new ServiceError('backendError', 'BigQuery gave no estimate.');
    return { bytesProcessed, bytesBilled: billedBytes(bytesProcessed, known?.referencedTables?.length ?? 1) };
  };

  async tables(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas> {
    const schemas = await Promise.all(
      paths.map(async (path) => {
        const name = path.join('.');
        const table = await this.#translating({ sql: '', offset: 0 }, () => this.#client.table(path, limits));
        if (table === null) return null;
        const { schema, timePartitioning, requirePartitionFilter: required = false } = table;
        const partitions = timePartitioning === undefined ? null : { column: timePartitioning.field ?? null, required };
        const { columns } = resultShape(schema?.fields);
        return { name, columns, descriptions: readDescriptions(schema?.fields), partitions };
      }),
    );
    const found = schemas.filter((known) => known !== null);
    // Names are for suggestions alone.
    const names = found.length < paths.length ? await this.#client.tableNames(limits) : [];
    return {
      schemas: new Map(found.map(({ name, columns }) => [name, { name, columns, pseudo: pseudoOf(name) }])),
      names,
      descriptions: new Map(found.map(({ name, descriptions }) => [name, descriptions])),
      partitions: new Map(found.flatMap(({ name, partitions }) => (partitions === null ? [] : [[name, partitions]]))),
    };
  }

  /** Dry runs are free; where they return no schema, the query runs with LIMIT 0. */
  async describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]> {
    if (this.#describesDry) {
      const { query } = await this.#translating({ sql, offset: 0 }, () =>
        this.#dryRuns.use(limits.keyName ?? '', limits, () =>
          this.#client.dryRun({ sql, parameters, labels: SANDBOX }, limits),
        ),
      );
      if (query?.schema !== undefined) return resultShape(query.schema.fields).columns;
      this.#describesDry = false;
    }
    const head = 'SELECT * FROM (\n';
    const query: EngineQuery = {
      sql: `${head}${sql}\n) LIMIT 0`,
      parameters,
      maxRows: 1,
      hideBytes: false,
      maxBytesBilled: null,
      labels: SANDBOX,
    };
    return (await this.#run(query, limits, head.length)).columns;
  }

  /** A dry run of the statement over empty tables must be one SELECT that references no table and no routine. */
  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void> {
    if (!this.#options.inspectConsumerQueries || !(await this.#isolation.isVerified(limits))) return;
    const stub = stubText(statement, tables);
    const { query } = await this.#translating(stub, () =>
      this.#dryRuns
        .use(limits.keyName ?? '', limits, () =>
          this.#client.dryRun({ sql: stub.sql, parameters, labels: SANDBOX }, limits),
        )
        .catch((error: unknown) => {
          throw namesSomethingElse(error) ? violation(tables) : error;
        }),
    );
    const isHarmless =
      query?.statementType === 'SELECT' &&
      (query.referencedTables ?? []).length === 0 &&
      (query.referencedRoutines ?? []).length === 0;
    if (!isHarmless) throw violation(tables);
  }

  ping(limits: RunLimits): Promise<void> {
    return this.#translating({ sql: '', offset: 0 }, () => this.#client.ping(limits));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** @param offset of the text that faults refer to */
  #run(query: EngineQuery, limits: RunLimits, offset: number): Promise<EngineResult> {
    const maxBytes = this.#options.maxResultBytes ?? DEFAULTS.maxResultBytes;
    return this.#translating({ sql: query.sql, offset }, () =>
      this.#queries.use(limits.keyName ?? '', limits, () =>
        this.#client.query(query, limits, (pages) => gather(pages, query, maxBytes)),
      ),
    );
  }

  /** Translates BigQuery's failures of `work`. */
  async #translating<T>(text: SentText, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const { httpStatus: status, reason, detail } = error;
      if (isOperatorsMatter(error))
        this.#options.log.error({ status, reason, detail: detail.slice(0, 500) }, 'BigQuery refuses');
      throw translateFailure(error, text);
    }
  }
}

/** The query with its rows sorted by their texts, and where it begins in that. */
function sorted(sql: string): { readonly text: string; readonly offset: number } {
  const head = 'SELECT * FROM (\n';
  return { text: `${head}${sql}\n) AS logquay_row ORDER BY TO_JSON_STRING(logquay_row)`, offset: head.length };
}

function pseudoOf(name: string): readonly NamedType[] {
  return isWildcard(name) ? [TABLE_SUFFIX] : [];
}

const SANDBOX = { kind: 'sandbox' } as const;

/** A missing table must be refused like an existing one. */
function namesSomethingElse(error: unknown): boolean {
  if (!(error instanceof ApiFailure)) return false;
  return (
    error.reason === 'notFound' ||
    error.reason === 'accessDenied' ||
    /\b(table|dataset|routine|model|connection)\b.*(not found|must be qualified)|not found: (table|dataset|routine|model|connection)/i.test(
      error.detail,
    )
  );
}

function violation(tables: readonly TableSchema[]): QueryError {
  return new QueryError(
    'sandboxViolation',
    'BigQuery reads the query as using something other than the tables that may be read.',
    null,
    { allowed: tables.map((table) => table.name) },
  );
}
