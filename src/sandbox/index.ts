export { tablesOfStoredQuery } from './compose';
export { StoredQueryFault, typicalValues } from './cte-columns';
export { Gate, type Admitted } from './gate';
export type { StoredQuery } from './stored-query';
