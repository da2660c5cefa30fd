export { Metrics } from './metrics';
export { RequestMeter } from './request-meter';
export { readData, readHealth, readServices, type Sources } from './readings';
export { watchProcess } from './process';
