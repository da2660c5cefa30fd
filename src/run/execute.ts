import type { RunResult } from '../cache/results';
import type { EngineQuery, EngineResult, RunLimits } from '../engines/contract';
import { encodeResult } from './encode-result';
import { composeStatement, forCaller, inPlainOrder, type Statement } from './statement';
import type { Services } from './services';
import type { RequestPlan, Timed } from './types';

/**
 * Runs a plan: the consumer query through the gate, a slot of the engine, redaction and encoding.
 *
 * @throws ServiceError 400 and 403 by the gate, 429 and 504 while waiting for a slot, and the engine's own
 */
export async function execute(
  plan: RequestPlan,
  services: Services,
  bounds: RunLimits,
  timed: Timed,
): Promise<RunResult> {
  const limits = { ...bounds, keyName: plan.payer };
  const statement = await timed('gate', () => composeStatement(plan, services, limits));
  const query = engineQuery(plan, statement, services);
  const run = (): Promise<EngineResult> => timed('engine', () => services.engine.run(query, limits));
  const result = await timed('queue', () =>
    services.admission.use(plan.payer, limits, run).catch(forCaller(statement)),
  );
  const { bytesProcessed, bytesBilled } = result;
  const { columns, truncated } = result;
  const seen = plan.fenced && !statement.ordered ? { columns, truncated, rows: inPlainOrder(result.rows) } : result;
  const response = await timed('render', () => encodeResult(seen, plan, services, limits));
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
