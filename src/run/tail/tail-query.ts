/** The query of a live tail, and its rows where they arrive. */
import { SharedNames, type Task, type RunLimits, yieldToEventLoop } from '@logquay/duckdb-engine/concurrency';
import { QueryError, ServiceError } from '../../errors';
import { renderRows } from '../encode-result';
import {
  type ArrivedRange,
  type ArrivedResult,
  type Engine,
  type EngineQuery,
  type EngineResult,
  nameIn,
} from '@logquay/duckdb-engine/contract';
import { COMPOSED_BOUNDS, parseQuery } from '@logquay/googlesql/syntax';
import { rowByRow, type RowByRow } from '@logquay/googlesql';
import { rolesOf, type TimeUnits } from '@logquay/googlesql/types';
import type { Endpoint } from '../../endpoints/endpoint';
import { readMembers } from '../../json';
import { engineQuery } from '../execute';
import type { Services } from '../services';
import { composeStatement, forCaller, type Statement } from '../statement';
import type { RequestPlan } from '../types';
import type { ArrivingRows, TailRows } from './types';

/** Rows of one evaluation: what is read at once has fewer, unless UNNEST multiplies them. */
const MOST_ROWS = 30_000;
/** UTF-16 units of rows that are read in one turn of the event loop. */
const AT_ONCE = 128 * 1024;
/** UTF-16 units of rows that are redacted on the main thread. */
const FEW = 16 * 1024;

const readRowByRow: Task<{ readonly sql: string }, RowByRow> = {
  file: __filename,
  name: 'readRowByRow',
  run: ({ sql }) => rowByRow(parseQuery(sql, COMPOSED_BOUNDS), sql),
};
export { readRowByRow };

export class TailQuery implements ArrivingRows {
  private constructor(
    readonly plan: RequestPlan,
    /** The table whose rows it takes. */
    readonly table: string,
    /** With its order and limit: they say which rows are the newest. */
    private readonly ordered: Statement,
    private readonly statement: Statement,
    private readonly services: Services,
    private readonly units: TimeUnits,
  ) {}

  /**
   * Composes the query of a plan.
   *
   * @throws ServiceError as composeStatement; for a query that looks at several rows
   */
  static async of(plan: RequestPlan, services: Services, limits: RunLimits): Promise<TailQuery> {
    const statement = await composeStatement(plan, services, limits);
    const units = await unitsOf(plan.endpoint, services, limits);
    try {
      const { sql } = statement;
      const { table, sql: unordered } = await services.threads.do(readRowByRow, { sql }, sql, limits);
      return new TailQuery(plan, nameIn([table]), statement, { ...statement, sql: unordered }, services, units);
    } catch (error) {
      throw error instanceof QueryError ? refusalFor(error, plan, statement) : error;
    }
  }

  get timeout(): number {
    return this.plan.endpoint.timeout ?? this.services.defaults.timeout;
  }

  async rows(range: Omit<ArrivedRange, 'table'>, limits: RunLimits, payers?: SharedNames): Promise<TailRows> {
    const result = await this.#arrived(this.statement, MOST_ROWS, { ...range, table: this.table }, limits, payers);
    if (result.truncated) throw tooManyRows();
    return { ...result, rows: await this.visible(result.columns, result.rows, limits) };
  }

  async rowsBefore(limits: RunLimits): Promise<TailRows> {
    const { ordered } = await TailQuery.of(this.plan, this.services, limits);
    const { maxRows } = this.plan.endpoint;
    const result = await this.#arrived(ordered, maxRows, { table: this.table, after: null }, limits);
    return { ...result, rows: await this.visible(result.columns, result.rows, limits) };
  }

  #arrived(
    statement: Statement,
    maxRows: number,
    range: Parameters<NonNullable<Engine['runArrived']>>[1],
    limits: RunLimits,
    payers = new SharedNames(this.#payer(limits)),
  ): Promise<ArrivedResult> {
    const { engine } = this.services;
    if (engine.runArrived === undefined) throw new Error('The engine has no arrivals.');
    const query = this.#query(statement, maxRows, limits);
    const run = (keyName: string): Promise<ArrivedResult> => engine.runArrived!(query, range, { ...limits, keyName });
    return this.services.admission.useAny(payers, limits, run).catch(forCaller(statement));
  }

  #payer({ keyName }: RunLimits): string {
    return keyName ?? this.plan.payer;
  }

  #query(statement: Statement, maxRows: number, limits: RunLimits): EngineQuery {
    const query = engineQuery({ ...this.plan, payer: this.#payer(limits) }, statement, this.services);
    return { ...query, maxRows, stored: false, sorted: true, labels: { ...query.labels, kind: 'tail' } };
  }

  /** Rows in order of time, as the caller may see them. */
  async visible(
    columns: EngineResult['columns'],
    rows: readonly string[],
    limits: RunLimits,
  ): Promise<readonly string[]> {
    const { time } = rolesOf(columns, this.plan.endpoint.log, this.units);
    const ordered = time === null ? rows : await byTime(rows, time.path);
    if (!this.plan.redacted || ordered.length === 0) return ordered;
    const { threads, escapeFormulas } = this.services;
    const names = columns.map(({ name }) => name);
    const representation = 'application/x-ndjson';
    const part = {
      columns: names,
      rows: ordered,
      representation,
      escapeFormulas,
      first: false,
      redacted: true,
    } as const;
    const few = ordered.reduce((sum, row) => sum + row.length, 0) <= FEW;
    const lines = await (few ? renderRows.run(part) : threads.run(renderRows, part, limits));
    return Buffer.from(lines).toString().split('\n').slice(0, -1);
  }
}

/** By time: an order that says nothing of rows between. */
async function byTime(rows: readonly string[], path: readonly string[]): Promise<readonly string[]> {
  const timed: { readonly time: number; readonly row: string }[] = [];
  let units = 0;
  for (const row of rows) {
    if ((units += row.length) > AT_ONCE) {
      units = 0;
      await yieldToEventLoop();
    }
    timed.push({ time: timeOf(row, path), row });
  }
  return timed.sort((a, b) => a.time - b.time).map(({ row }) => row);
}

/** Of a row's time: a number, or a TIMESTAMP or DATETIME as text; 0: it has none. */
function timeOf(row: string, path: readonly string[]): number {
  let json = row;
  for (const step of path)
    json = json.startsWith('{') ? (readMembers(json).find(({ name }) => name === step)?.json ?? '') : '';
  const time = json.startsWith('"') ? Date.parse(json.slice(1, -1)) : json === '' ? NaN : Number(json);
  return Number.isNaN(time) ? 0 : time;
}

/** Which numbers of the endpoint's tables are times: a row of a tail is one of theirs. */
async function unitsOf(endpoint: Endpoint, { analyses }: Services, limits: RunLimits): Promise<TimeUnits> {
  const { tables, roles } = await analyses.roles(endpoint, limits);
  const times = [...tables.map((table) => table.roles?.time), roles?.time];
  return new Map(times.flatMap((time) => (time?.unit ? [[time.path[0] ?? '', time.unit] as const] : [])));
}

function tooManyRows(): ServiceError {
  return new ServiceError('resourcesExceeded', 'More rows have arrived at once than a live tail gives.', {
    hint: 'Filter more closely.',
  });
}

/** What is refused in the caller's own text has its place there. */
function refusalFor(error: QueryError, { endpoint }: RequestPlan, statement: Statement): ServiceError {
  const { consumer } = statement;
  const { span, message } = error;
  const own = consumer !== null && span !== null && span.start >= consumer.start && span.end <= consumer.end;
  if (own) return statement.errorForCaller(error);
  return new ServiceError('invalidParameter', `The stored query of ${endpoint.name} cannot be followed. ${message}`);
}
