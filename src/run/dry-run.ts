import type { Engine, RunLimits } from '../engines/contract';
import { ServiceError } from '../errors';
import { EncodedResponse } from '../rendering/encoded-response';
import { NOT_KEPT } from './answer-headers';
import { chooseQuery, inWordsFor } from './chosen-query';
import { engineQuery, type Plan, type Timed } from './produce';
import type { Services, RunAnswer } from './request';

const TIB = 2 ** 40;

/** @throws ServiceError invalidParameter where a dry run is asked of an engine that has none */
export function checkDryRun(dryRun: boolean, engine: Pick<Engine, 'dryRun'>): void {
  if (!dryRun || engine.dryRun !== null) return;
  const message = '"dry_run" has no meaning on the embedded engine: nothing is billed there.';
  throw new ServiceError('invalidParameter', message, { parameter: 'dry_run' });
}

/** What the query would read and cost, without running it: never kept, never shared (docs/endpoints.md). */
export async function estimate(plan: Plan, services: Services, bounds: RunLimits, timed: Timed): Promise<RunAnswer> {
  const limits = { ...bounds, keyName: plan.payer };
  const { engine, pricePerTiB } = services;
  if (engine.dryRun === null) throw new Error('checkDryRun comes first.');
  const { dryRun } = engine;
  const { endpoint, query: sent, parameters, fenced } = plan;
  const chosen = await timed('gate', () => chooseQuery(endpoint, sent, parameters, services, limits, fenced));
  const query = engineQuery(plan, chosen, services);
  const { bytesProcessed } = await timed('engine', () => dryRun(query, limits).catch(inWordsFor(chosen)));
  const estimated = {
    bytesProcessed: bytesProcessed.toString(),
    estimatedCost: (Number(bytesProcessed) / TIB) * pricePerTiB,
    currency: 'USD',
    tables: chosen.tables,
  };
  const bytes = Buffer.from(JSON.stringify({ dryRun: estimated }));
  return { response: new EncodedResponse(bytes, 'application/json', false), headers: NOT_KEPT };
}
