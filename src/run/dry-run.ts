import type { Engine } from '../engines/contract';
import { ServiceError } from '../errors';
import { EncodedResponse } from '../rendering/encoded-response';
import { engineQuery } from './execute';
import { limitsOf } from './limits';
import { UNCACHED } from './response-headers';
import type { Services } from './services';
import { composeStatement, forCaller } from './statement';
import type { RequestPlan, RunRequest, RunResponse } from './types';

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
