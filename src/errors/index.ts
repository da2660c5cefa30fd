export { ERRORS, type Reason } from './catalogue';
export { lineAndColumn, locate, offsetOf } from './position';
export { type FaultNote, QueryError, type QueryFault } from './query-error';
export { ServiceError, type ErrorDetails } from './service-error';
export { systemCode } from './system-code';
