import { API_KEY, type HostileRequest } from './target';

const RUN = '/api/endpoints/query';

/** `count` items with a separator between. */
export function times(count: number, item: (i: number) => string, separator = ', '): string {
  return Array.from({ length: count }, (_, i) => item(i)).join(separator);
}

/** A consumer's query by POST. */
export function consumer(
  name: string,
  language: 'sql' | 'lql',
  text: string,
  headers: readonly string[] = [],
): HostileRequest {
  return posted(name, 'logs.all', JSON.stringify({ project: 'default', [language]: text }), headers);
}

/** A JSON body to an endpoint. */
export function posted(name: string, endpoint: string, body: string, headers: readonly string[] = []): HostileRequest {
  return {
    name,
    method: 'POST',
    path: `${RUN}/${endpoint}`,
    headers: ['X-API-KEY', API_KEY, 'Content-Type', 'application/json', ...headers],
    body,
  };
}

/** A form to an endpoint. */
export function form(name: string, endpoint: string, body: string): HostileRequest {
  return {
    name,
    method: 'POST',
    path: `${RUN}/${endpoint}`,
    headers: ['X-API-KEY', API_KEY, 'Content-Type', 'application/x-www-form-urlencoded'],
    body,
  };
}

/** A GET to an endpoint. */
export function got(name: string, endpoint: string, query: string, headers: readonly string[] = []): HostileRequest {
  return {
    name,
    method: 'GET',
    path: `${RUN}/${endpoint}?${query}`,
    headers: ['X-API-KEY', API_KEY, ...headers],
    body: null,
  };
}
