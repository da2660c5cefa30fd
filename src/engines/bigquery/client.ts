/** Queries, dry runs and pings, all behind the circuit breaker; none after `close`. */
import { type BreakerState, CircuitBreaker } from '../../concurrency/circuit-breaker';
import { isWildcard, ServiceError, type EngineQuery, type RunLimits } from '@logquay/duckdb-engine/contract';
import { type BoundParameter, elementOf } from '@logquay/googlesql/types';
import { withinLimits } from '@logquay/duckdb-engine/concurrency';
import type { ApiParameter, DryRunQuery, JobResource, QueryResponse, QueryText, TableList, TableResource } from './api';
import { ApiFailure } from './api-failure';
import { queryPages } from './job';
import { bigQueryLabels, type BigQueryOptions, DEFAULTS } from './options';
import { retrying, Transport } from './transport';

type Text = Pick<EngineQuery, 'sql' | 'parameters' | 'labels'>;

/** What a dry run tells; null and undefined where a service tells nothing. */
export interface DryRun {
  readonly bytesProcessed: bigint | null;
  readonly query: DryRunQuery | undefined;
}

/** Milliseconds that one dry run may take to answer. */
const DRY_RUN_PATIENCE = 15_000;
/** Milliseconds that `close` waits for cancellations to arrive. */
const CLOSING_TIME = 5_000;
/** Names of tables in a page, which is all that is read for a suggestion. */
const MOST_NAMES = 1_000;
/** Pages that are read for a wildcard. */
const MOST_PAGES = 50;

export class BigQueryClient {
  readonly #options: BigQueryOptions;
  readonly #breaker: CircuitBreaker;
  readonly #transport: Transport;
  readonly #running = new Set<AbortController>();
  /** What goes on although nobody waits for it. */
  readonly #detached = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: BigQueryOptions) {
    const { projectId, emulator, credentials, log } = options;
    this.#options = options;
    this.#breaker = new CircuitBreaker({
      ...(options.breaker ?? DEFAULTS.breaker),
      onChange: (state) => {
        if (state === 'open') log.error({}, 'BigQuery does not answer: queries are refused for the moment');
        else log.info({}, 'BigQuery answers again');
      },
    });
    this.#transport = new Transport({ projectId, emulator, credentials, observer: this.#breaker });
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /**
   * Runs a query and has `read` take its pages.
   *
   * @param mostPerPage rows; default: all that are wanted
   * @throws ApiFailure; ServiceError `deadlineExceeded`, `backendUnavailable`; AbortError after `limits.signal`; whatever
   *   `read` throws
   */
  query<T>(
    query: EngineQuery,
    limits: RunLimits,
    read: (pages: AsyncIterable<QueryResponse>) => Promise<T>,
    mostPerPage = query.maxRows,
  ): Promise<T> {
    const { location, maxBytesBilled } = this.#options;
    const body = {
      ...this.#text(query),
      labels: bigQueryLabels(query.labels),
      maximumBytesBilled: String(query.maxBytesBilled ?? maxBytesBilled),
      ...(location !== null && { location }),
    };
    const context = { transport: this.#transport, detach: (work: Promise<unknown>) => this.#detach(work) };
    return this.#guarded(limits, (inner) =>
      read(queryPages(context, body, { maxRows: query.maxRows, mostPerPage }, inner)),
    );
  }

  /** jobs.insert: jobs.query has no list of referenced tables. @throws as `query` */
  async dryRun(query: Text, limits: RunLimits): Promise<DryRun> {
    const { projectId, location } = this.#options;
    const body = {
      configuration: { dryRun: true, labels: bigQueryLabels(query.labels), query: this.#text(query) },
      ...(location !== null && { jobReference: { projectId, location } }),
    };
    const request = { method: 'POST', path: '/jobs', body, patience: DRY_RUN_PATIENCE } as const;
    const attempt = async (signal: AbortSignal): Promise<JobResource['statistics']> => {
      const { status, statistics } = await this.#transport.send<JobResource>({ ...request, signal });
      const failed = status?.errorResult ?? (statistics?.query === undefined ? status?.errors?.[0] : undefined);
      if (failed !== undefined) throw new ApiFailure(200, failed.reason ?? 'invalidQuery', failed.message ?? '');
      return statistics;
    };
    const statistics = await this.#guarded(limits, (inner) =>
      withinLimits(inner, (signal) => retrying(() => attempt(signal), { ...inner, signal })),
    );
    const bytes = statistics?.totalBytesProcessed ?? statistics?.query?.totalBytesProcessed;
    return {
      bytesProcessed: bytes !== undefined && /^\d+$/.test(bytes) ? BigInt(bytes) : null,
      query: statistics?.query,
    };
  }

  /**
   * A table or view that has a schema, of a wildcard its newest table; null: there is none of this name that can be looked up, such as a
   * view of INFORMATION_SCHEMA. @throws as `query`
   */
  async table(path: readonly string[], limits: RunLimits): Promise<TableResource | null> {
    const options = this.#options;
    const [table = '', dataset = options.dataset, project = options.projectId, ...more] = path
      .flatMap((part) => part.split('.'))
      .reverse();
    if (more.length > 0 || project !== options.projectId || table === '') return null;
    try {
      const name = isWildcard(table) ? await this.#newestOf(dataset, table, limits) : table;
      if (name === null) return null;
      const resource = await this.#get<TableResource>(['datasets', dataset, 'tables', name], {}, limits);
      return resource.schema?.fields === undefined ? null : resource;
    } catch (error) {
      if (error instanceof ApiFailure && (error.reason === 'notFound' || error.httpStatus === 404)) return null;
      // Who may query tables need not be allowed to list them: a dry run of the query tells the rest.
      if (error instanceof ApiFailure && error.httpStatus === 403 && isWildcard(table)) return null;
      throw error;
    }
  }

  /** The table that was created last of those that a wildcard means; null: there is none, or there are too many to look at. */
  async #newestOf(dataset: string, wildcard: string, limits: RunLimits): Promise<string | null> {
    let newest: { readonly name: string; readonly created: number } | null = null;
    let token: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const query = { maxResults: String(MOST_NAMES), ...(token !== undefined && { pageToken: token }) };
      const list = await this.#get<TableList>(['datasets', dataset, 'tables'], query, limits);
      for (const { tableReference, type, creationTime } of list.tables ?? []) {
        const name = tableReference?.tableId ?? '';
        const created = Number(creationTime ?? 0);
        if (!name.startsWith(wildcard.slice(0, -1)) || (type ?? 'TABLE') !== 'TABLE') continue;
        if (newest === null || created > newest.created || (created === newest.created && name > newest.name))
          newest = { name, created };
      }
      token = list.nextPageToken;
      if (token === undefined || token === '') return newest?.name ?? null;
    }
    return null;
  }

  /** Reads something that has no side effects, and tries again. */
  #get<T>(path: readonly string[], query: Readonly<Record<string, string>>, limits: RunLimits): Promise<T> {
    const place = ['', ...path].map((part) => encodeURIComponent(part)).join('/');
    const request = { method: 'GET', path: place, query, patience: DRY_RUN_PATIENCE } as const;
    return this.#guarded(limits, (inner) =>
      withinLimits(inner, (signal) =>
        retrying(() => this.#transport.send<T>({ ...request, signal }), { ...inner, signal }),
      ),
    );
  }

  /** Names of tables and views of the data set, a page of them; none where the account may not list them. @throws as `query` */
  async tableNames(limits: RunLimits): Promise<readonly string[]> {
    const path = `/datasets/${encodeURIComponent(this.#options.dataset)}/tables`;
    const query = { maxResults: String(MOST_NAMES) };
    const request = { method: 'GET', path, query, patience: DRY_RUN_PATIENCE } as const;
    try {
      const { tables } = await this.#guarded(limits, (inner) =>
        withinLimits(inner, (signal) => this.#transport.send<TableList>({ ...request, signal })),
      );
      return (tables ?? []).flatMap(({ tableReference }) => tableReference?.tableId ?? []);
    } catch (error) {
      if (error instanceof ApiFailure) return [];
      throw error;
    }
  }

  /** The cheapest request that needs the right to run queries. One try. @throws as `query` */
  async ping(limits: RunLimits): Promise<void> {
    const { location } = this.#options;
    const text = this.#text({ sql: 'SELECT 1', parameters: [], labels: {} });
    const body = { ...text, dryRun: true, ...(location !== null && { location }) };
    const { errors } = await this.#guarded(limits, (inner) =>
      withinLimits(inner, (signal) =>
        this.#transport.send<QueryResponse>({
          method: 'POST',
          path: '/queries',
          body,
          patience: DRY_RUN_PATIENCE,
          signal,
        }),
      ),
    );
    const [error] = errors ?? [];
    if (error !== undefined) throw new ApiFailure(200, error.reason ?? 'unknown', error.message ?? '');
  }

  /** Cancels running queries and waits for that, five seconds at most. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const running of this.#running) running.abort();
    const deadline = performance.now() + CLOSING_TIME;
    while (this.#detached.size > 0 && performance.now() < deadline) {
      // A late first response detaches a cancellation as well.
      await Promise.race([Promise.allSettled(this.#detached), pause(deadline - performance.now())]);
    }
  }

  async #guarded<T>(limits: RunLimits, work: (limits: RunLimits) => Promise<T>): Promise<T> {
    if (this.#closed) throw shuttingDown();
    const leave = this.#breaker.admit();
    if (leave === null) {
      const retryAfter = Math.max(1, Math.ceil(this.#breaker.remaining() / 1000));
      throw new ServiceError('backendUnavailable', 'BigQuery does not answer at the moment.', { retryAfter });
    }
    const running = new AbortController();
    const onAbort = (): void => running.abort();
    if (limits.signal.aborted) onAbort();
    limits.signal.addEventListener('abort', onAbort, { once: true });
    this.#running.add(running);
    try {
      return await work({ deadline: limits.deadline, signal: running.signal });
    } catch (error) {
      throw this.#closed && !limits.signal.aborted ? shuttingDown() : error;
    } finally {
      leave();
      this.#running.delete(running);
      limits.signal.removeEventListener('abort', onAbort);
    }
  }

  #detach(work: Promise<unknown>): void {
    const settled = work
      .catch(() => undefined)
      .finally(() => {
        this.#detached.delete(settled);
      });
    this.#detached.add(settled);
  }

  #text({ sql, parameters }: Text): QueryText {
    const { projectId, dataset } = this.#options;
    return {
      query: sql,
      useLegacySql: false,
      parameterMode: 'NAMED',
      queryParameters: parameters.map(apiParameter),
      defaultDataset: { projectId, datasetId: dataset },
    };
  }
}

function apiParameter({ name, type, value }: BoundParameter): ApiParameter {
  const element = elementOf(type);
  if (element === null || typeof value === 'string') {
    return { name, parameterType: { type }, parameterValue: { value: String(value) } };
  }
  const arrayValues = value.map((one) => ({ value: one }));
  return { name, parameterType: { type: 'ARRAY', arrayType: { type: element } }, parameterValue: { arrayValues } };
}

function shuttingDown(): ServiceError {
  return new ServiceError('backendUnavailable', 'The service is shutting down.', { retryAfter: 5 });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)).unref());
}
