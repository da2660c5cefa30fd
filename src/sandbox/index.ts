export { compose, tablesOfStoredQuery } from './compose';
export { StoredQueryFault, typicalValues } from './cte-columns';
export { describeFunctions } from './functions';
export { Gate, type Admitted } from './gate';
export { readTranslation } from './statement';
export type { StoredQuery } from './stored-query';
export { applyEdits, type EditedText, spanBefore } from './text-edits';
