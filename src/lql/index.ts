export { rulesToJson } from './json';
export { LEVELS } from './operand';
export { LQL_CODES, LqlError, type LqlCode } from './lql-error';
export { readLql, type Reading, type ReadOptions } from './read';
export { AGGREGATES } from './rules';
export type { Chart, Filter, Rules, Select, Span, Value } from './rules';
export { type CteTable, toSql } from './sql';
export { type LqlQuery, openLql, type Translation } from './translate';
export { readMoment } from './moment';
