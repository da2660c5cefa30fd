import { readFileSync } from 'node:fs';
import path from 'node:path';

import fc from 'fast-check';

import { ERRORS } from '../../src/errors';
import type { Readers } from '../../src/openapi/described';
import { RESPONSE_HEADERS } from '../../src/openapi/results';
import { columnsOf } from '../../packages/googlesql/src/rest-schema';
import type { NamedType, SqlType, StructField } from '../../packages/googlesql/src/types';
import { Cors } from '../../src/http/response/cors';
import { Lifecycle } from '../../src/http/server/lifecycle';
import { createRouter } from '../../src/http/server/router';
import type { Document, Operation, Response } from '../../src/openapi/schema';
import { fieldsOf } from '../../packages/duckdb-engine/test/fields';
import { documentOf, forKey, names, operation } from './documents';
import { ALL, endpointOf, ON_BIGQUERY, ON_DUCKDB, SHIPPED } from './endpoints';
import { validated } from './validated';
import { runs } from '../scale';

jest.setTimeout(180_000);

describe('is valid, with its examples and defaults', () => {
  const readers: Readers[] = [
    ON_DUCKDB,
    ON_BIGQUERY,
    forKey({}),
    forKey({ pins: new Map([['project', 'abc']]) }),
    forKey({
      pins: new Map([
        ['text', 'abc'],
        ['n', '3'],
        ['choice', 'c&d'],
      ]),
    }),
    forKey({ redact: true }),
    forKey({ redact: true, allowSql: true }, ON_DUCKDB),
    forKey({ endpoints: ['bare'] }),
  ];

  it('for every kind of reader', async () => {
    const documents = [
      ...readers.map((one) => documentOf(ALL, one, one.key === null ? 'open' : 'key')),
      documentOf(SHIPPED, ON_BIGQUERY, 'key'),
      documentOf([], ON_DUCKDB),
    ];
    for (const faults of await validated(documents.map((document) => ({ document })))) expect(faults).toEqual([]);
  });

  it('for columns of every type', async () => {
    const kinds =
      'BOOL INT64 FLOAT64 NUMERIC BIGNUMERIC STRING BYTES DATE TIME DATETIME TIMESTAMP INTERVAL JSON GEOGRAPHY'.split(
        ' ',
      );
    const range: NamedType = { name: 'RANGE', type: { kind: 'RANGE', element: { kind: 'DATETIME' } } };
    const scalars = [...columnsOf(fieldsOf(kinds.map((kind) => `${kind} ${kind}`).join(', '))), range];
    const record = (fields: readonly StructField[]): SqlType => ({ kind: 'STRUCT', fields });
    const few: StructField[] = scalars.slice(0, 3);
    const columns: NamedType[] = [
      ...scalars,
      ...scalars.map(({ name, type }) => ({ name: `${name}s`, type: { kind: 'ARRAY', element: type } as const })),
      { name: 'few', type: record(few) },
      { name: 'many', type: record(scalars) },
      { name: 'fews', type: { kind: 'ARRAY', element: record(few) } },
      { name: 'manys', type: { kind: 'ARRAY', element: record(scalars) } },
      // Twice one name, none, and names that an object would put elsewhere or drop.
      {
        name: '7',
        type: record([...few.slice(0, 1), ...few.slice(0, 1), { name: null, type: { kind: 'STRING' } }]),
      },
      { name: '__proto__', type: { kind: 'INT64' } },
      { name: '=1+1', type: { kind: 'STRING' } },
    ];
    const documents = readers.map((one) => documentOf(ALL, one, 'key', () => columns));
    for (const faults of await validated(documents.map((document) => ({ document })))) expect(faults).toEqual([]);
    const schemas = Object.keys(documents[0]?.components.schemas ?? {}).filter((name) => name.endsWith('Row'));
    expect(schemas.sort()).toEqual(expect.arrayContaining(['LogsAllRow', 'LogsAll_2Row', 'UsageApiCountsRow']));
    expect(schemas).toHaveLength(ALL.length + 1);
  });

  it('for whatever a stored query may declare', async () => {
    const value = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/[\0\p{Surrogate}]/u.test(text));
    const integer = fc.integer({ min: -1000, max: 1000 });
    const declaration = fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'regex', 'timestamp', 'date'), description: value }),
      fc.record({
        type: fc.constantFrom('string', 'regex', 'timestamp', 'date', 'integer', 'number', 'boolean'),
        required: fc.constant(true),
      }),
      fc.record({ type: fc.constant('enum'), values: fc.uniqueArray(value, { minLength: 1, maxLength: 5 }) }),
      fc.record({
        type: fc.constantFrom('integer', 'number'),
        default: integer,
        min: fc.constant(-1000),
        max: fc.constant(1000),
      }),
      fc.record({ type: fc.constantFrom('integer', 'number'), required: fc.constant(true), min: integer }),
      fc.record({ type: fc.constantFrom('integer', 'number'), required: fc.constant(true), max: integer }),
      fc.record({ type: fc.constant('string'), default: value }),
    );
    const name = fc.stringMatching(/^[a-z][a-z0-9_]{1,8}$/).filter((one) => !['sql', 'lql', 'dry_run'].includes(one));
    const params = fc.dictionary(name, declaration, { minKeys: 1, maxKeys: 5 });
    const endpoints = fc.sample(params, { ...runs(60) }).map((declared, i) => {
      const id = `33333333-aaaa-4000-8000-${String(i).padStart(12, '0')}`;
      const used = Object.keys(declared).map((one) => `@${one} AS ${one}_`);
      // JSON is YAML, and `*/` would end the comment.
      const settings = JSON.stringify({ id, name: `e${String(i)}`, params: declared }).replaceAll('*/', '*\\u002f');
      return endpointOf(`/*\n${settings}\n*/\nSELECT ${used.join(', ')}\n`);
    });
    const cases = [ON_DUCKDB, forKey({})].map((one) => ({ document: documentOf(endpoints, one) }));
    for (const faults of await validated(cases)) expect(faults).toEqual([]);
  });
});

describe('paths', () => {
  it('are one for each stored endpoint, and those of the router', () => {
    const router = createRouter({ cors: new Cors([]), lifecycle: new Lifecycle(), docs: 'open', metrics: null });
    const routes = router.router.stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));
    const [run] = routes.splice(routes.indexOf('/api/endpoints/query/:idOrName'), 1);
    expect(run).toBe('/api/endpoints/query/:idOrName');
    const document = documentOf();
    expect(names(document)).toEqual(ALL.map(({ name }) => name));
    const others = Object.keys(document.paths).filter((one) => !one.startsWith('/api/endpoints/query/'));
    // The way to the pages is for people; clients of Logflare know its paths.
    const undescribed = ['/', '/endpoints/query/:idOrName', '/api/endpoints/query/name/:idOrName'];
    undescribed.push('/api/backends', '/api/backends/:id', '/api/sources', '/api/rules');
    const documented = routes.filter((route) => !undescribed.includes(route));
    expect(others.sort()).toEqual(documented.map((route) => route.replace(/:(\w+)/g, '{$1}')).sort());
  });

  it('have operations with names of their own', () => {
    const operations = Object.values(documentOf().paths).flatMap(({ get, post }) => [get, post]);
    const ids = operations.flatMap((one) => one?.operationId ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['runLogsAll', 'runLogsAll_2', 'sendUsageApiCounts']));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z]\w*$/);
  });

  it('need a key, but for the probes and what is open', () => {
    const keyless = (document: Document): string[] =>
      Object.entries(document.paths).flatMap(([at, { get }]) => (get?.security?.length === 0 ? [at] : []));
    expect(keyless(documentOf(ALL, ON_DUCKDB, 'open')).sort()).toEqual(['/docs', '/health', '/openapi.json', '/ready']);
    expect(keyless(documentOf(ALL, ON_DUCKDB, 'key')).sort()).toEqual(['/health', '/ready']);
    expect(documentOf().security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    expect(documentOf().components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
  });
});

describe('errors', () => {
  const document = documentOf();
  const responses = (operation: Operation): [string, Response][] =>
    Object.entries(operation.responses).map(([status, given]) => {
      const name = '$ref' in given ? given.$ref.split('/').at(-1) : undefined;
      return [status, name === undefined ? (given as Response) : (document.components.responses[name] as Response)];
    });

  it('are every reason of the catalogue under its status, each with an example, and no other', () => {
    // Nothing that is described answers 501 or 507: Logflare's paths that are not there, and those that take logs in, do.
    const described = Object.entries(ERRORS).filter(([, { http }]) => http !== 501 && http !== 507);
    for (const method of ['get', 'post'] as const) {
      const documented = responses(operation(document, 'logs.all', method)).flatMap(([status, { content }]) =>
        Object.keys(content?.['application/json']?.examples ?? {}).map((reason) => [reason, Number(status)] as const),
      );
      const errors = documented.filter(([, status]) => status >= 400);
      const inBodies = ['payloadTooLarge', 'unsupportedMediaType'];
      const expected = described.map(([reason, { http }]) => [reason, http] as const);
      expect(errors.sort()).toEqual(
        expected.filter(([reason]) => method === 'post' || !inBodies.includes(reason)).sort(),
      );
    }
    for (const [reason, { http, status }] of described) {
      const { value } = document.components.examples[reason] as { value: object };
      expect(value).toMatchObject({ error: { code: http, status, errors: [{ domain: 'global', reason }] } });
    }
  });
});

it('names the response headers of docs/querying.md, but for those of the transport and of CORS', () => {
  const page = readFileSync(path.join(__dirname, '../../docs/querying.md'), 'utf8');
  const table = page.split('### Response headers')[1]?.split(/^#/m)[0] ?? '';
  const documented = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''),
  );
  const described = documented.filter((name) => name !== 'Content-Type' && !name.startsWith('Access-Control-'));
  expect(Object.keys(RESPONSE_HEADERS).sort()).toEqual(described.sort());
});
