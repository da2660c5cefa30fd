import {
  type DescribedEndpoint,
  describeParameter,
  exampleOf,
  isRequired,
  lqlExample,
  RESERVED_MEANINGS,
  runPath,
  sqlExample,
} from '../openapi';
import type { QueryParameter, RequestItem } from './types';

/** The stored query, with what it must be given; the rest is there to be switched on. */
export function getRequest(endpoint: DescribedEndpoint): RequestItem {
  return request(`${endpoint.name}: rows`, runPath(endpoint), {
    query: [...declared(endpoint), ...reserved(endpoint, [])],
    tests: rowsTests(endpoint),
  });
}

/** The same as a table. */
export function csvRequest(endpoint: DescribedEndpoint): RequestItem {
  return request(`${endpoint.name}: rows as CSV`, runPath(endpoint), {
    query: declared(endpoint),
    headers: { Accept: 'text/csv' },
    tests: [
      ...answered,
      "pm.test('answers CSV', () => pm.expect(pm.response.headers.get('Content-Type')).to.match(/^text\\/csv/));",
    ],
  });
}

/** The same with its parameters in the body. */
export function postRequest(endpoint: DescribedEndpoint): RequestItem {
  return request(`${endpoint.name}: parameters in the body`, runPath(endpoint), {
    body: required(endpoint),
    tests: rowsTests(endpoint),
  });
}

/** A query of one's own. */
export function sqlRequest(endpoint: DescribedEndpoint): RequestItem {
  return request(`${endpoint.name}: SQL of your own`, runPath(endpoint), {
    body: { ...required(endpoint), sql: sqlExample(endpoint) },
    tests: [
      ...rowsTests(endpoint),
      "pm.test('counts', () => pm.expect(pm.response.json().result[0].count).to.be.a('number'));",
    ],
  });
}

/** The same in LQL. */
export function lqlRequest(endpoint: DescribedEndpoint): RequestItem {
  return request(`${endpoint.name}: LQL`, runPath(endpoint), {
    query: [...declared(endpoint), ...reserved(endpoint, ['lql'])],
    tests: rowsTests(endpoint),
  });
}

/** What this key may run, or one endpoint of it. */
export function catalogueEntry(name: string | null): RequestItem {
  return request(name ?? 'What this key may run', name === null ? '/api/endpoints' : `/api/endpoints/${name}`, {
    tests: [
      ...answered,
      name === null
        ? "pm.test('lists endpoints', () => pm.expect(pm.response.json().result).to.be.an('array'));"
        : `pm.test('describes it', () => pm.expect(pm.response.json().result.name).to.eql(${JSON.stringify(name)}));`,
    ],
  });
}

export function probe(path: string, status: string): RequestItem {
  return request(path, `/${path}`, {
    keyless: true,
    tests: [
      ...answered,
      `pm.test('says so', () => pm.expect(pm.response.json().status).to.eql(${JSON.stringify(status)}));`,
    ],
  });
}

interface Parts {
  readonly query?: readonly QueryParameter[];
  readonly body?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyless?: boolean;
  readonly tests: readonly string[];
}

function request(name: string, path: string, { query = [], body, headers = {}, keyless, tests }: Parts): RequestItem {
  const given = query.filter(({ disabled }) => disabled !== true).map(({ key, value }) => `${key}=${value}`);
  const all = body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' };
  return {
    name,
    request: {
      method: body === undefined ? 'GET' : 'POST',
      ...(keyless === true ? { auth: { type: 'noauth' } as const } : {}),
      header: Object.entries(all).map(([key, value]) => ({ key, value })),
      url: {
        raw: `{{baseUrl}}${path}${given.length === 0 ? '' : `?${given.join('&')}`}`,
        host: ['{{baseUrl}}'],
        path: path.slice(1).split('/'),
        ...(query.length === 0 ? {} : { query }),
      },
      ...(body === undefined
        ? {}
        : {
            body: { mode: 'raw', raw: inBody(body), options: { raw: { language: 'json' } } } as const,
          }),
    },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: tests } }],
  };
}

function declared({ parameters }: DescribedEndpoint): QueryParameter[] {
  return parameters.map((one) => ({
    key: one.name,
    value: inUrl(exampleOf(one)),
    description: describeParameter(one),
    ...(isRequired(one) ? {} : { disabled: true }),
  }));
}

function reserved(endpoint: DescribedEndpoint, on: readonly string[]): QueryParameter[] {
  const values = { sql: sqlExample(endpoint), lql: lqlExample(endpoint) ?? '', dry_run: 'true' };
  return endpoint.reserved.map((name) => ({
    key: name,
    value: inUrl(values[name]),
    description: RESERVED_MEANINGS[name],
    ...(on.includes(name) ? {} : { disabled: true }),
  }));
}

function required({ parameters }: DescribedEndpoint): Record<string, string | readonly string[]> {
  const given = parameters.filter(isRequired);
  return Object.fromEntries(given.map((one) => [one.name, one.list ? [exampleOf(one)] : exampleOf(one)]));
}

/** Postman encodes what no URL may hold, and leaves what means something in one. */
function inUrl(text: string): string {
  return text.replace(/[%&+#={}]/g, encodeURIComponent);
}

/** Two braces are the place of a variable to Postman, in a body too; JSON can say them otherwise. */
function inBody(value: object): string {
  return JSON.stringify(value, null, 2).replaceAll('{{', '{\\u007b');
}

const answered = [
  "pm.test('answers 200', () => pm.response.to.have.status(200));",
  "pm.test('names the request', () => pm.expect(pm.response.headers.get('X-Request-Id')).to.be.a('string'));",
];

function rowsTests({ maxRows }: DescribedEndpoint): string[] {
  return [
    ...answered,
    "pm.test('has rows, each an object', () => {",
    '  const { result } = pm.response.json();',
    "  pm.expect(result).to.be.an('array');",
    `  pm.expect(result.length).to.be.at.most(${String(maxRows)});`,
    "  for (const row of result) pm.expect(row).to.be.an('object');",
    '});',
    "pm.test('has an ETag', () => pm.expect(pm.response.headers.get('ETag')).to.match(/^W\\/\"/));",
  ];
}
