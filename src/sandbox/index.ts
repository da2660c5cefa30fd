export { tablesOfStoredQuery } from './compose';
export { Gate, type Admitted } from './gate';
export type { StoredQuery } from './stored-query';
