import { ERRORS } from '../../errors';
import type { Metrics } from '../../metrics/metrics';
import { RequestMeter } from '../../metrics/readings';
import type { Log } from '../../log';
import type { OnRefused } from './http-server';

/** Logs and counts requests that could not even be parsed: of those nothing is known but what is wrong. */
export function recordRefused(log: Log, metrics: Metrics): OnRefused {
  const meter = new RequestMeter(metrics);
  return ({ reason }, id) => {
    const status = ERRORS[reason].http;
    meter.count({ status, reason, milliseconds: 0, phases: [], bytes: 0 });
    log.info({ id, reason, status }, 'request');
  };
}
