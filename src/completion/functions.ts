import { findFunction } from '../googlesql/functions/catalogue';
import { describeFunctions } from '../sandbox/functions';
import type { Completion } from './completion';

/** The functions that a consumer query may call in a place. */
export function functionCompletions(allowed: {
  readonly aggregates: boolean;
  readonly windows: boolean;
}): readonly Completion[] {
  return describeFunctions().flatMap(({ name, signatures }): Completion[] => {
    const mode = findFunction(name)?.mode;
    if ((mode === 'aggregate' && !allowed.aggregates) || (mode === 'analytic' && !allowed.windows)) return [];
    const detail = signatures.slice(0, 3).join('; ');
    return [{ label: name, kind: 'function', insert: `${name}(`, ...(detail === '' ? {} : { detail }) }];
  });
}
