import type { ConsumerRequest } from '../endpoints';
import type { Engine, EngineQuery, RunLimits } from '../engines/contract';
import { ServiceError } from '../errors';
import { Finished } from '../rendering/finished';
import { type ChosenQuery, inWordsFor } from './chosen-query';
import type { RunAnswer } from './request';

const TIB = 2 ** 40;

/** @throws ServiceError invalidParameter where a dry run is asked of an engine that has none */
export function checkDryRun(asked: ConsumerRequest, engine: Engine): void {
  if (!asked.dryRun || engine.dryRun !== null) return;
  const message = '"dry_run" has no meaning on the embedded engine: nothing is billed there.';
  throw new ServiceError('invalidParameter', message, { parameter: 'dry_run' });
}

/** What the query would read and cost, without running it: never kept, never shared (docs/endpoints.md). */
export async function estimate(
  query: EngineQuery,
  chosen: ChosenQuery,
  { engine, pricePerTiB }: { readonly engine: Engine; readonly pricePerTiB: number },
  limits: RunLimits,
): Promise<RunAnswer> {
  if (engine.dryRun === null) throw new Error('checkDryRun comes first.');
  const { bytesProcessed } = await engine.dryRun(query, limits).catch(inWordsFor(chosen));
  const dryRun = {
    bytesProcessed: bytesProcessed.toString(),
    estimatedCost: (Number(bytesProcessed) / TIB) * pricePerTiB,
    currency: 'USD',
    tables: chosen.tables,
  };
  return {
    finished: new Finished(Buffer.from(JSON.stringify({ dryRun })), 'application/json', false),
    headers: { 'Cache-Control': 'private, no-cache', 'Cache-Status': 'logquay; fwd=miss' },
  };
}
