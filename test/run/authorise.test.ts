import type { FolderStatus } from '../../packages/duckdb-engine/src/contract/contract';
import { parseQuery } from '../../packages/googlesql/src/parser';
import type { Endpoint } from '../../src/endpoints/endpoint';
import type { Key } from '../../src/keys/key';
import { Metrics } from '../../src/metrics/metrics';
import { authorise, checkPermissions, readsDeclaredTables } from '../../src/run/authorise';
import { ENDPOINTS, KEYS, services, type ServedOptions } from '../http/served';
import { TestRequest } from './request';

const endpointOf = (name: string): Endpoint => {
  const endpoint = ENDPOINTS.find((one) => one.name === name);
  if (endpoint === undefined) throw new Error(name);
  return endpoint;
};
const keyOf = (name: string): Key => KEYS[name] ?? fail(name);
const fail = (name: string): never => {
  throw new Error(name);
};
const authoriseWith = (request: TestRequest, options: ServedOptions = {}): ReturnType<typeof authorise> =>
  authorise(request, services(options, new Metrics()));

describe('authorise', () => {
  it('gives key and endpoint, and records both', async () => {
    const request = new TestRequest('test.plain', { key: 'pinned' });
    const { key, endpoint } = await authoriseWith(request);
    expect([key.name, endpoint.name]).toEqual(['pinned', 'test.plain']);
    expect(request.telemetry).toEqual({ account: 'pinned', key: 'pinned', pinned: true, endpoint: 'test.plain' });
    expect(request.reads).toBe(0);
  });

  it('counts a key that asks for a missing endpoint, and refuses it beyond its rate', async () => {
    const options = { rate: 1 / 60 };
    const shared = services(options, new Metrics());
    await expect(authorise(new TestRequest('nowhere'), shared)).rejects.toMatchObject({ reason: 'notFound' });
    const second = new TestRequest('test.plain');
    await expect(authorise(second, shared)).rejects.toMatchObject({ reason: 'rateLimitExceeded' });
    expect(second.responseHeaders).toContain('RateLimit');
    expect(second.telemetry).toEqual({ account: 'all', key: 'all', pinned: false });
  });
});

describe('checkPermissions', () => {
  const none = { query: null, dryRun: false } as const;
  const sql = { query: { language: 'sql', text: 'select 1' }, dryRun: false } as const;
  const plain = endpointOf('test.plain');
  const masked = endpointOf('test.masked');

  it('refuses a dry run to a key with pins', () => {
    const dryRun = { query: null, dryRun: true };
    expect(() => checkPermissions(dryRun, [], keyOf('pinned'), plain)).toThrow(
      expect.objectContaining({ reason: 'accessDenied', details: { parameter: 'dry_run' } }),
    );
    expect(() => checkPermissions(dryRun, [], keyOf('all'), plain)).not.toThrow();
  });

  it('refuses queries where key or endpoint force redaction, unless the key may send them', () => {
    for (const [key, endpoint] of [
      ['masked', plain],
      ['all', masked],
    ] as const) {
      expect(() => checkPermissions(sql, [], keyOf(key), endpoint)).toThrow(
        expect.objectContaining({ reason: 'accessDenied', details: { parameter: 'sql' } }),
      );
      expect(() => checkPermissions(none, [], keyOf(key), endpoint)).not.toThrow();
    }
    expect(() => checkPermissions(sql, [], keyOf('masked-sql'), masked)).not.toThrow();
  });

  it('refuses patterns where redaction is forced; an empty one counts as absent', () => {
    const regex = {
      name: 'matching',
      type: 'regex',
      list: false,
      required: false,
      description: '',
      default: null,
      defaultLookback: null,
    } as const;
    const endpoint: Endpoint = { ...plain, parameters: [{ ...regex, values: null, minimum: null, maximum: null }] };
    const sent = (text: string) => [{ name: 'matching', value: { kind: 'text', text } as const }];
    const key = keyOf('masked');
    expect(() => checkPermissions(none, sent('^a'), key, endpoint)).toThrow(
      expect.objectContaining({ reason: 'accessDenied', details: { parameter: 'matching' } }),
    );
    expect(() => checkPermissions(none, sent(''), key, endpoint)).not.toThrow();
    expect(() =>
      checkPermissions(none, sent('^a'), { ...key, pins: new Map([['matching', 'x']]) }, endpoint),
    ).not.toThrow();
    expect(() => checkPermissions(none, sent('^a'), keyOf('all'), endpoint)).not.toThrow();
  });
});

describe('readsDeclaredTables', () => {
  it.each([
    ['t', { t: true }, true],
    ['`p.d.t`', { t: true }, true],
    ['p.d.u', { t: true }, false],
    ['`t_*`', { t: true, t_a: true, other: false }, true],
    ['`t_*`', { t: false, t_a: true }, false],
    ['`t_*`', { t_a: true, t_b: false }, false],
    ['`p.d.t_*`', { other: true }, false],
  ])('%s of %j: %s', (from, tables, expected) => {
    const status = Object.entries(tables).map(([table, declared]) => ({ table, declared }));
    const engine = { dataStatus: () => ({ tables: status }) as unknown as FolderStatus };
    expect(readsDeclaredTables({ query: parseQuery(`SELECT 1 FROM ${from}`) }, engine)).toBe(expected);
  });
});
