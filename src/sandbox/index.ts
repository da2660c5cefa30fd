export { tablesOfStoredQuery } from './compose';
export { typicalValues } from './cte-columns';
export { Gate, type Admitted } from './gate';
export type { StoredQuery } from './stored-query';
