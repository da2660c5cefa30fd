/** LQL, the query language of log explorers: its rules, and the GoogleSQL that says the same. */
export { excerpt, inLql, LqlError } from '../lql/lql-error';
export { type Misreading, misreadingsOf } from '../lql/misreadings';
export { readLql, type ReadOptions } from '../lql/read';
export type { Rules } from '../lql/rules';
export { rulesToJson, toSql } from '../lql/sql';
export { readMoment } from '../lql/timestamp';
