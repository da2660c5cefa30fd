/** Tests that need the local BigQuery, and a word about it where it is not installed. */
import { openBigQueryEngine } from '../../src/engines/bigquery/engine';
import type { BigQueryOptions } from '../../src/engines/bigquery/options';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { borrowLocalBigQuery, localBigQueryInstalled, startLocalBigQuery, type LocalBigQuery } from '../local-bigquery';

/**
 * Describes tests over a local BigQuery to which they write nothing: the next file has it after them. Without
 * `npm ci --prefix emulator` they are skipped and say so; in CI that is a failure.
 */
export function overLocalBigQuery(name: string, tests: (local: () => LocalBigQuery) => void): void {
  describeOver(borrowLocalBigQuery, name, tests);
}

/** The same over one of their own, which may write to it. `options` are those of `npm run emulator`. */
export function overOwnLocalBigQuery(
  name: string,
  tests: (local: () => LocalBigQuery) => void,
  options: readonly string[] = [],
): void {
  describeOver(() => startLocalBigQuery(options), name, tests);
}

function describeOver(
  open: () => Promise<LocalBigQuery>,
  name: string,
  tests: (local: () => LocalBigQuery) => void,
): void {
  if (!localBigQueryInstalled && !process.env['CI']) {
    describe.skip(`${name} (skipped: npm ci --prefix emulator installs what it needs)`, () => {
      tests(missing);
    });
    return;
  }
  describe(name, () => {
    let local: LocalBigQuery | null = null;
    beforeAll(async () => {
      if (!localBigQueryInstalled)
        throw new Error('In CI the local BigQuery has to be there: npm ci --prefix emulator');
      local = await open();
    }, 60_000);
    afterAll(() => local?.stop());
    tests(() => local ?? missing());
  });
}

function missing(): never {
  throw new Error('The local BigQuery does not run.');
}

/** What an engine has logged: message and facts. */
export type Logged = { level: string; message: string; facts: object }[];

export function recordingLog(logged: Logged): BigQueryOptions['log'] {
  const at =
    (level: string) =>
    (facts: object, message: string): void =>
      void logged.push({ level, message, facts });
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

/** A stored query that reads a table, by which the isolation check is verified. */
export function reading(table: string): BigQueryOptions['storedQueries'][number] {
  return { endpoint: table, sql: `SELECT 1 FROM ${table}`, parameters: [] };
}

/** An engine on a local BigQuery as the service opens it, but for `options`. */
export function openEngineOn(host: string, options: Partial<BigQueryOptions> = {}): Promise<Engine> {
  return openBigQueryEngine({
    projectId: 'test',
    dataset: 'logs',
    location: 'US',
    emulator: `http://${host}`,
    credentials: null,
    maxBytesBilled: 10n * 1024n ** 3n,
    inspectConsumerQueries: true,
    storedQueries: [reading('raw_edge_logs')],
    clock: { text: '2026-09-30T12:00:00.000000Z' },
    log: recordingLog([]),
    ...options,
  });
}
