import type { Endpoint } from '../../endpoints/endpoint';
import { ServiceError } from '../../errors';
import type { Key, PinnedValue } from '../../keys/key';
import type { LocalRunner } from '../local-runner';
import { parseExact } from '../../json';
import type { Outcome } from './outcome';
import { type Row, readableRow } from './readable-rows';
import type { EndpointTest } from './test-file';

/** Sends the request of a test. @throws AbortError by the signal; what is no answer to a caller */
export async function runTest(
  test: EndpointTest,
  endpoint: Endpoint,
  runner: LocalRunner,
  signal: AbortSignal,
): Promise<Outcome> {
  const request = {
    endpoint: endpoint.id,
    parameters: parametersOf(test),
    redact: test.redact ?? false,
    accept: 'application/x-ndjson',
  };
  try {
    const { response, columns } = await runner.run(request, keyOf(test), signal);
    const lines = response.bytes.toString('utf8').split('\n').slice(0, -1);
    const rows = lines.map((line) => readableRow(parseExact(line) as Row, columns));
    return { kind: 'result', columns, rows, truncated: response.truncated };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { reason, message, details } = error;
    return { kind: 'error', reason, message, details };
  }
}

function parametersOf({ params = {}, sql, lql }: EndpointTest): (readonly [string, string])[] {
  return [
    ...Object.entries(params).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const)),
    ...(sql === undefined ? [] : [['sql', sql] as const]),
    ...(lql === undefined ? [] : [['lql', lql] as const]),
  ];
}

function keyOf({ key = {} }: EndpointTest): Key {
  return {
    name: 'test',
    endpoints: key.endpoints ?? '*',
    pins: new Map<string, PinnedValue>(Object.entries(key.pins ?? {})),
    redact: key.redact ?? false,
    allowSql: key.allow_sql ?? false,
    export: false,
    rateLimit: null,
    dailyBytes: null,
    expires: null,
  };
}
