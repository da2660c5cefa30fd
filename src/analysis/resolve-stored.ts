import type { ResolveStored } from '../endpoints/catalogue';
import { faultIn } from '../endpoints/definition';
import { ServiceError } from '../errors';
import type { StoredAnalyses } from './stored-analyses';

/** Milliseconds that the engine may take for one stored query. */
const PATIENCE = 10_000;

/** What the catalogue resolves stored queries with. */
export function resolverOf(analyses: Pick<StoredAnalyses, 'of' | 'forget'>): ResolveStored {
  return async (endpoint) => {
    analyses.forget(endpoint);
    const limits = { deadline: performance.now() + PATIENCE, signal: new AbortController().signal };
    try {
      const { errors } = await analyses.of(endpoint, limits);
      if (errors.length === 0) return { kind: 'resolved' };
      return { kind: 'faulty', faults: errors.map((error) => faultIn(endpoint.sql, error)) };
    } catch (error) {
      // Anything else is a fault of ours: it must not take a working endpoint away.
      const reason = error instanceof ServiceError ? error.message : `it cannot be analysed (${String(error)})`;
      return { kind: 'unreachable', reason };
    }
  };
}
