import type { Endpoint } from './endpoint';
import type { Fault } from './fault';
import type { LineFault } from './settings';

/** Whether a stored query means something to the engine: names, types, functions. */
export type Resolution =
  | { readonly kind: 'resolved' }
  | { readonly kind: 'faulty'; readonly faults: readonly LineFault[] }
  /** The engine does not answer at the moment. */
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Resolves a stored query against the engine's tables, as they are now; never rejects. */
export type ResolveStored = (endpoint: Endpoint) => Promise<Resolution>;

/** The faults of a file whose query was resolved; a text: why it could not be at the moment. */
export function faultsOf(file: string, resolution: Resolution): readonly Fault[] | string {
  switch (resolution.kind) {
    case 'resolved':
      return [];
    case 'faulty':
      return resolution.faults.map((fault) => ({ file, ...fault }));
    case 'unreachable':
      return resolution.reason;
  }
}
