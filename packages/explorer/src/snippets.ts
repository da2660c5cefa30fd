/** A request as text for other programs. None holds the key. */
import { type EndpointDescription, pairsOf, type Sent } from './api';

export interface Request {
  /** Of the service, with a slash at the end. */
  readonly base: string;
  readonly endpoint: EndpointDescription;
  readonly parameters: Sent;
}

const urlOf = ({ base, endpoint }: Request): string =>
  `${base}api/endpoints/query/${encodeURIComponent(endpoint.name)}`;

/** For a shell; the key is in its variable KEY. */
export function curlOf(request: Request): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl --get -H "X-API-KEY: $KEY" ${quote(urlOf(request))}`,
    ...pairsOf(request.parameters).map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
  ].join(' \\\n  ');
}

/** For JavaScript; the key is in a variable of that name. */
export function fetchOf(request: Request): string {
  const parameters = pairsOf(request.parameters).map(
    (pair) => `  [${pair.map((part) => JSON.stringify(part)).join(', ')}],`,
  );
  return `const url = new URL(${JSON.stringify(urlOf(request))});
url.search = new URLSearchParams([
${parameters.join('\n')}
]).toString();
const response = await fetch(url, { headers: { 'X-API-KEY': key } });
if (!response.ok) throw new Error(await response.text());
const { result } = await response.json();
`;
}

/** A collection with one request, as Postman imports it; the key is its variable \`key\`. */
export function postmanOf(request: Request): string {
  const url = new URL(urlOf(request));
  const pairs = pairsOf(request.parameters);
  const query = pairs.map(([key, value]) => ({ key, value }));
  const collection = {
    info: {
      name: `Logquay: ${request.endpoint.name}`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    item: [
      {
        name: request.endpoint.name,
        request: {
          method: 'GET',
          header: [{ key: 'X-API-KEY', value: '{{key}}' }],
          url: {
            raw: `${url.href}?${new URLSearchParams(pairs).toString()}`,
            protocol: url.protocol.slice(0, -1),
            host: [url.hostname],
            ...(url.port === '' ? {} : { port: url.port }),
            path: url.pathname.split('/').slice(1).map(decodeURIComponent),
            query,
          },
        },
      },
    ],
    variable: [{ key: 'key', value: '' }],
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

/**
 * A file for the folder of stored queries.
 *
 * @param sql the query of the page; its tables are those of the endpoint, whose own SQL the page does not know
 */
export function endpointFileOf({ endpoint }: Request, sql: string, id: string): string {
  const parameters = endpoint.params.flatMap(({ name, type, required, values }) => [
    `  ${name}:`,
    `    type: ${type}`,
    ...(required ? ['    required: true'] : []),
    ...(values === undefined ? [] : [`    values: [${values.map((value) => JSON.stringify(value)).join(', ')}]`]),
  ]);
  return `/*
id: ${id}
name: my.endpoint
description: >-
  What it answers, in a sentence.
max_rows: ${endpoint.maxRows}
params:${parameters.length === 0 ? ' {}' : ''}
${parameters.join('\n')}
*/

-- Its tables are those of ${endpoint.name}: put the WITH clause of that file here.
${sql.trim()}
`;
}
