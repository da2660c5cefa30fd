/** BigQuery behind the engine contract, real or local (docs/bigquery.md). */
import { QueryError, ServiceError } from '../../errors';
import { columnsOf } from '../../googlesql/rest-schema';
import type { NamedType, TableSchema } from '../../googlesql/types';
import type { BoundParameter, Engine, EngineQuery, EngineResult, RunLimits } from '../contract';
import type { ApiParameter, DryRunJob } from './api';
import { Breaker } from './breaker';
import { ApiFailure, isOutage, translateFailure, type SentText } from './errors';
import { queryPages, type QueryBody } from './job';
import { sanitiseLabels } from './labels';
import { gather, resultFields } from './result';
import { Slots } from '../slots';
import { stubText } from './stub';
import { retrying } from './retry';
import { Transport } from './transport';

export interface BigQueryOptions {
  readonly projectId: string;
  readonly dataset: string | null;
  readonly location: string | null;
  /** Origin of a local BigQuery; null: Google's. */
  readonly host: string | null;
  /** Queries running at once in this process. */
  readonly maxConcurrent: number;
  /** The sandbox's fourth wall. */
  readonly inspectConsumerQueries: boolean;
}

const BREAKER = { failures: 5, cooldown: 5_000 };

export class BigQueryEngine implements Engine {
  readonly kind = 'bigquery';
  readonly target: string;
  readonly #options: BigQueryOptions;
  readonly #transport: Transport;
  readonly #slots: Slots;
  readonly #breaker = new Breaker(BREAKER);
  readonly #closing = new AbortController();

  constructor(options: BigQueryOptions) {
    const { projectId, dataset, location, host, maxConcurrent } = options;
    this.#options = options;
    this.#transport = new Transport({ projectId, host });
    this.#slots = new Slots(maxConcurrent);
    this.target = JSON.stringify(['bigquery', projectId, dataset, location, host]);
  }

  get breakerState(): Breaker['state'] {
    return this.#breaker.state;
  }

  run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    return this.#guarded(limits, { sql: query.sql, offset: 0 }, (inner) =>
      gather(queryPages(this.#transport, this.#body(query), query.maxRows, inner), query),
    );
  }

  readonly dryRun = async (query: EngineQuery, limits: RunLimits): Promise<{ bytesProcessed: bigint }> => {
    const { statistics } = await this.#dryRun(query.sql, query.parameters, query.labels, limits);
    const bytes = statistics?.totalBytesProcessed ?? statistics?.query?.totalBytesProcessed;
    if (bytes === undefined) throw new ServiceError('backendError', 'BigQuery gave no estimate.');
    return { bytesProcessed: BigInt(bytes) };
  };

  /** Dry runs are free; a service whose dry run gives no schema is asked for no rows instead. */
  async describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]> {
    const job = await this.#dryRun(sql, parameters, {}, limits);
    const fields = job.statistics?.query?.schema?.fields;
    if (fields !== undefined) return columnsOf(resultFields(fields));
    const query: EngineQuery = {
      sql: `SELECT * FROM (\n${sql}\n) LIMIT 0`,
      parameters,
      maxRows: 1,
      hideBytes: false,
      maxBytesBilled: null,
      labels: {},
    };
    return (await this.run(query, limits)).columns;
  }

  /**
   * A dry run of the statement over stubs must come back as one SELECT that references no table and no routine. A
   * missing list is a refusal: this wall fails closed.
   */
  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void> {
    if (!this.#options.inspectConsumerQueries) return;
    const stub = stubText(statement, tables);
    const job = await this.#dryRun(stub.sql, parameters, { kind: 'sandbox' }, limits, stub.offset);
    const query = job.statistics?.query;
    const reads = query?.referencedTables ?? [];
    const calls = query?.referencedRoutines ?? [];
    if (query?.statementType === 'SELECT' && reads.length === 0 && calls.length === 0) return;
    throw new QueryError(
      'sandboxViolation',
      'BigQuery reads the query as using something other than the tables that may be read.',
      null,
      { allowed: tables.map((table) => table.name) },
    );
  }

  async ping(limits: RunLimits): Promise<void> {
    await this.#dryRun('SELECT 1', [], {}, limits);
  }

  close(): Promise<void> {
    this.#closing.abort(new DOMException('The engine is closed.', 'AbortError'));
    return Promise.resolve();
  }

  #dryRun(
    sql: string,
    parameters: readonly BoundParameter[],
    labels: Readonly<Record<string, string>>,
    limits: RunLimits,
    offset = 0,
  ): Promise<DryRunJob> {
    const { query, queryParameters, defaultDataset, location } = this.#body({
      sql,
      parameters,
      maxBytesBilled: null,
      labels,
    });
    const body = {
      configuration: {
        dryRun: true,
        labels: sanitiseLabels(labels),
        query: {
          query,
          queryParameters,
          parameterMode: 'NAMED',
          useLegacySql: false,
          ...(defaultDataset && { defaultDataset }),
        },
      },
      ...(location && { jobReference: { projectId: this.#options.projectId, location } }),
    };
    return this.#guarded(limits, { sql, offset }, async ({ deadline, signal }) => {
      const left = (): number => deadline - performance.now();
      const both = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(left())))]);
      const attempt = (): Promise<DryRunJob> =>
        this.#transport.send<DryRunJob>({ method: 'POST', path: '/jobs', body, signal: both });
      const job = await retrying(attempt, left, both).catch((error: unknown) => {
        throw both.aborted && !signal.aborted ? deadlineExceeded() : error;
      });
      const failed = job.status?.errorResult;
      if (failed === undefined) return job;
      throw new ApiFailure(200, failed.reason ?? 'unknown', failed.message ?? 'The dry run failed.');
    });
  }

  /**
   * Runs `work` in a slot, behind the breaker, with failures in the words of the service. `text` is what BigQuery's
   * positions count in: they become offsets behind `text.offset`.
   */
  #guarded<T>(limits: RunLimits, text: SentText, work: (limits: RunLimits) => Promise<T>): Promise<T> {
    const inner = { ...limits, signal: AbortSignal.any([limits.signal, this.#closing.signal]) };
    return this.#slots.use(inner, async () => {
      if (!this.#breaker.admit()) {
        const retryAfter = Math.max(1, Math.ceil(this.#breaker.remaining() / 1000));
        throw new ServiceError('backendUnavailable', 'BigQuery does not answer at the moment.', { retryAfter });
      }
      try {
        const result = await work(inner);
        this.#breaker.succeeded();
        return result;
      } catch (error) {
        if (!(error instanceof ApiFailure)) {
          this.#breaker.undecided();
          throw error;
        }
        if (isOutage(error)) this.#breaker.failed();
        else this.#breaker.succeeded();
        throw translateFailure(error, text);
      }
    });
  }

  #body(query: Pick<EngineQuery, 'sql' | 'parameters' | 'maxBytesBilled' | 'labels'>): QueryBody {
    const { projectId, dataset, location } = this.#options;
    return {
      query: query.sql,
      queryParameters: query.parameters.map(toApiParameter),
      labels: sanitiseLabels(query.labels),
      ...(dataset !== null && { defaultDataset: { projectId, datasetId: dataset } }),
      ...(location !== null && { location }),
      ...(query.maxBytesBilled !== null && { maximumBytesBilled: query.maxBytesBilled.toString() }),
    };
  }
}

function toApiParameter({ name, type, value }: BoundParameter): ApiParameter {
  return { name, parameterType: { type }, parameterValue: { value } };
}

function deadlineExceeded(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The query did not finish in time. Choose a shorter time range.');
}
