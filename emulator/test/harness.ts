import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test as nodeTest } from 'node:test';
import { startLocalBigQuery, type LocalBigQuery, type LocalBigQueryOptions } from '../src/local-bigquery';

/** Registers a test; the runner sees to its end. */
export function test(name: string, work: () => Promise<void> | void): void {
  void nodeTest(name, work);
}

export const CASES = join(__dirname, '..', '..', 'test', 'cases');
export const FIXTURE = join(__dirname, '..', '..', 'test', 'fixture');

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  // The shape is what the tests are about.
  readonly json: Json;
}
export type Json = { readonly [key: string]: Json } & { readonly [index: number]: Json } & { length?: number };

/** A local BigQuery for the tests of one file, with the fixture's rows and its clock at their end. */
export class Harness {
  private local: LocalBigQuery | null = null;

  constructor(options: Partial<LocalBigQueryOptions> = {}) {
    before(async () => {
      const { readFolder } = await import('../sample/folder.mjs');
      this.local = await startLocalBigQuery({
        port: 0,
        host: '127.0.0.1',
        project: 'test',
        dataset: 'logs',
        location: 'US',
        tables: readFolder(FIXTURE),
        clock: '2026-09-30T12:00:00Z',
        shape: 'bigquery',
        ignoreDefaultDataset: false,
        ...options,
      });
    });
    after(() => this.local?.close());
  }

  get origin(): string {
    if (this.local === null) throw new Error('Not started');
    return `http://127.0.0.1:${this.local.port}`;
  }

  async send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }), ...(signal && { signal }) };
    const response = await fetch(this.origin + path, init);
    const text = await response.text();
    return { status: response.status, json: (text === '' ? null : JSON.parse(text)) as Json };
  }

  /** jobs.query, over the data set of the logs and with exact timestamps. */
  query(query: string, more: Record<string, unknown> = {}): Promise<Answer> {
    const settings = {
      useLegacySql: false,
      defaultDataset: { datasetId: 'logs' },
      formatOptions: { useInt64Timestamp: true },
    };
    return this.send('POST', '/bigquery/v2/projects/test/queries', { query, ...settings, ...more });
  }

  /** The rows of a query, each the list of its raw values. Throws for an error. */
  async rows(query: string, more: Record<string, unknown> = {}): Promise<Json[][]> {
    const { status, json } = await this.query(query, more);
    if (status !== 200) throw new Error(JSON.stringify(json));
    return rowsOf(json);
  }

  async control(body?: Record<string, unknown>): Promise<Json> {
    return (await this.send(body === undefined ? 'GET' : 'POST', '/_control', body)).json;
  }
}

export function rowsOf(json: Json): Json[][] {
  return ((json['rows'] ?? []) as unknown as { f: { v: Json }[] }[]).map((row) => row.f.map((cell) => cell.v));
}

export function caseFile(name: string): Record<string, Json>[] {
  return readFileSync(join(CASES, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, Json>);
}
