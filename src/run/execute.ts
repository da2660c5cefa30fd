import type { SharedNames } from '@logquay/duckdb-engine/concurrency';
import type { RunLimits, EngineQuery, EngineResult, Engine } from '@logquay/duckdb-engine/contract';
import type { Services } from './services';
import type { RequestPlan, RunRequest, Timed, RunResponse } from './types';
import type { RunResult } from '../cache/results';
import { encodeResult } from './encode-result';
import { composeStatement, forCaller, inPlainOrder, type Statement } from './statement';
import { ServiceError } from '../errors';
import { EncodedResponse } from '../rendering/encoded-response';
import { UNCACHED } from './response-headers';

/** The limits of a request's run, which draining waits for, and its timeout in milliseconds. */
export function limitsOf(
  { endpoint }: Pick<RequestPlan, 'endpoint'>,
  request: Pick<RunRequest, 'arrived' | 'signal' | 'expectUntil'>,
  { defaults }: Pick<Services, 'defaults'>,
): { readonly limits: RunLimits; readonly timeout: number } {
  const timeout = endpoint.timeout ?? defaults.timeout;
  const deadline = request.arrived + timeout;
  request.expectUntil(deadline);
  return { limits: { deadline, signal: request.signal }, timeout };
}

/**
 * Runs a plan: the consumer query through the gate, a slot of the engine, redaction and encoding.
 *
 * @param payers keys of which any may give it a slot
 * @throws ServiceError 400 and 403 by the gate, 429 and 504 while waiting for a slot, and the engine's own
 */
export async function execute(
  plan: RequestPlan,
  services: Services,
  bounds: RunLimits,
  payers: SharedNames,
  timed: Timed,
): Promise<RunResult> {
  const limits = { ...bounds, keyName: plan.payer };
  const statement = await timed('gate', () => composeStatement(plan, services, limits));
  const query = engineQuery(plan, statement, services);
  const run = (keyName: string): Promise<EngineResult> =>
    timed('engine', () => services.engine.run(query, { ...limits, keyName }));
  const result = await timed('queue', () => services.admission.useAny(payers, limits, run).catch(forCaller(statement)));
  const { bytesProcessed, bytesBilled } = result;
  const { columns, truncated } = result;
  const seen = plan.fenced && !statement.ordered ? { columns, truncated, rows: inPlainOrder(result.rows) } : result;
  const response = await timed('render', () => encodeResult(seen, plan, services, limits));
  response.rows = result.lines?.count ?? result.rows.length;
  return { response, bytesProcessed, bytesBilled };
}

export function engineQuery(
  {
    endpoint,
    query,
    redacted,
    isoTimestamps,
    fenced,
    payer,
    purpose,
  }: Pick<RequestPlan, 'endpoint' | 'query' | 'redacted' | 'isoTimestamps' | 'fenced' | 'payer' | 'purpose'>,
  { sql, parameters, consumer }: Statement,
  { defaults }: Pick<Services, 'defaults'>,
): EngineQuery {
  return {
    sql,
    parameters,
    maxRows: endpoint.maxRows,
    hideBytes: redacted,
    isoTimestamps,
    maxBytesBilled: endpoint.maxBytesBilled ?? defaults.maxBytesBilled,
    stored: query === null,
    fence: fenced ? { consumer } : null,
    labels: {
      endpoint: endpoint.name,
      key: payer,
      kind: purpose === 'warm' || purpose === 'export' ? purpose : query === null ? 'run' : 'sandbox',
    },
  };
}

const TIB = 2 ** 40;

/** @throws ServiceError invalidParameter for a dry run on an engine that has none */
export function checkDryRun(dryRun: boolean, engine: Pick<Engine, 'dryRun'>): void {
  if (!dryRun || engine.dryRun !== null) return;
  const message = '"dry_run" has no meaning on the embedded engine: nothing is billed there.';
  throw new ServiceError('invalidParameter', message, { parameter: 'dry_run' });
}

/** Estimates bytes and cost of a query without running it: never cached, never shared (docs/endpoints.md). */
export async function estimate(
  plan: RequestPlan,
  request: Pick<RunRequest, 'arrived' | 'signal' | 'expectUntil' | 'timed'>,
  services: Services,
): Promise<RunResponse> {
  const { engine, pricePerTiB } = services;
  const { dryRun } = engine;
  if (dryRun === null) throw new Error('checkDryRun comes first.');
  const limits = { ...limitsOf(plan, request, services).limits, keyName: plan.payer };
  const statement = await request.timed('gate', () => composeStatement(plan, services, limits));
  const query = engineQuery(plan, statement, services);
  const { bytesProcessed, bytesBilled } = await request.timed('engine', () =>
    dryRun(query, limits).catch(forCaller(statement)),
  );
  const estimated = {
    bytesProcessed: bytesProcessed.toString(),
    estimatedCost: (Number(bytesBilled) / TIB) * pricePerTiB,
    currency: 'USD',
    tables: statement.tables,
  };
  const bytes = Buffer.from(JSON.stringify({ dryRun: estimated }));
  return { response: new EncodedResponse(bytes, 'application/json', false), headers: UNCACHED };
}
