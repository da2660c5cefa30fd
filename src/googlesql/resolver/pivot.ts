import type { Pivot } from '../syntax';
import type { FromContext, Source } from './from';
import { invalid } from './session';

export function resolvePivot(_context: FromContext, { span }: Pivot): Source {
  throw invalid('PIVOT is not supported.', span);
}
