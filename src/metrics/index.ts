export { Metrics } from './metrics';
export { RequestMeter, type RequestFacts } from './request-meter';
export { watchProcess } from './process';
