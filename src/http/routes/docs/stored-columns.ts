import type { Endpoint } from '../../../endpoints/endpoint';
import type { NamedType } from '../../../googlesql/types';
import type { Services } from '../../../run/services';

/** Milliseconds that describing all endpoints may take; the others are then described without their columns. */
const PATIENCE = 5_000;

/** Columns of stored queries by endpoint. */
export interface StoredColumns {
  readonly columnsOf: (endpoint: Endpoint) => readonly NamedType[] | null;
  /** Whether the engine has answered for each. */
  readonly complete: boolean;
}

/** What the analyses know of these endpoints, one after the other: documentation never takes all of an engine. */
export async function storedColumns(
  endpoints: readonly Endpoint[],
  { analyses }: Pick<Services, 'analyses'>,
): Promise<StoredColumns> {
  const limits = { deadline: performance.now() + PATIENCE, signal: AbortSignal.timeout(PATIENCE) };
  const known = new Map<Endpoint, readonly NamedType[] | null>();
  let complete = true;
  for (const endpoint of endpoints) {
    const late = performance.now() > limits.deadline;
    const analysis = late ? null : await analyses.of(endpoint, limits).catch(() => null);
    if (analysis === null) complete = false;
    known.set(endpoint, (analysis ?? analyses.latest(endpoint))?.columns ?? null);
  }
  return { columnsOf: (endpoint) => known.get(endpoint) ?? null, complete };
}
