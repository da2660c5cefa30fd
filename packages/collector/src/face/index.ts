/** Events that come over HTTP, kept as files of a data folder. */
export { Collector } from '../collector';
export { readSources } from '../sources';
export type { OtlpEncoding } from '../otlp';
