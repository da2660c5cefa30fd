/** The text of somebody who may read named tables alone: what it names and calls, its faults, what would complete it. */
export {
  analyseConsumer,
  type ConsumerAnalysis,
  type ConsumerTable,
  type ConsumerText,
  type TextFault,
  type Warning,
} from '../consumer/analysis';
export { complete } from '../consumer/completion/complete';
export type { Completion, Completions, WrittenText } from '../consumer/completion/completion';
export { describeFunctions } from '../consumer/functions';
export { applyEdits, type Edit, originalSpan, type Pieces } from '../consumer/lenient';
export { readConsumerQuery, type Reading } from '../consumer/policy';
export { readStatement, readTranslation, type Statement } from '../consumer/statement';
