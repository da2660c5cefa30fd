import type { Unpivot } from '../syntax';
import type { FromContext, Source } from './from';
import { invalid } from './session';

export function resolveUnpivot(_context: FromContext, { span }: Unpivot): Source {
  throw invalid('UNPIVOT is not supported.', span);
}
