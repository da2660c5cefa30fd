/** A page of logs in Studio: how its browser and its server ask, with the libraries that they use. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

import { InfiniteQueryObserver, QueryClient } from '@tanstack/query-core';
import createClient from 'openapi-fetch';

const RUN = '/api/endpoints/query/logs.all';

/** What Studio's own server makes of an answer: every status but success becomes 500. */
async function studio(base: string, key: string): Promise<{ url: string; requests: () => number; close: () => void }> {
  let count = 0;
  const server = http.createServer((request, response) => {
    count++;
    const query = new URL(request.url ?? '', 'http://studio').searchParams;
    query.set('project', 'default');
    const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json', Accept: 'application/json' };
    const forward = async (): Promise<void> => {
      const answer = await fetch(`${base}${RUN}?${query.toString()}`, { headers });
      const body = (await answer.json()) as { error?: { message?: string } };
      response.writeHead(answer.ok ? 200 : 500, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer.ok ? body : { error: { message: body.error?.message } }));
    };
    void forward();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, requests: () => count, close: () => server.close() };
}

interface Paths {
  '/logs.all': {
    get: {
      parameters: { query: { sql: string } };
      responses: {
        200: { content: { 'application/json': { result?: { n: number }[]; error?: string } } };
        500: { content: { 'application/json': { error: { message: string } } } };
      };
    };
  };
}

/** What a page has of a query in the end. */
export interface Shown {
  /** The text of an error. */
  readonly shown: string | null;
  readonly rows: readonly { readonly n: number }[];
  /** How often Studio's server was asked. */
  readonly requests: number;
  /** Milliseconds from the first request until the page has it. */
  readonly ms: number;
}

/** What a logs page has of a query in the end: its list of pages, fetched as Studio does, and how often it was requested. */
export async function page(base: string, key: string, sql: string): Promise<Shown> {
  const between = await studio(base, key);
  const client = createClient<Paths>({ baseUrl: between.url });
  const queries = new QueryClient();
  const started = performance.now();
  const observer = new InfiniteQueryObserver(queries, {
    queryKey: ['logs', sql],
    // As many retries as in a browser by default, without waiting between them.
    retry: 3,
    retryDelay: 0,
    initialPageParam: undefined,
    getNextPageParam: () => undefined,
    queryFn: async () => {
      const { data, error } = await client.GET('/logs.all', { params: { query: { sql } } });
      // oxlint-disable-next-line typescript/only-throw-error -- as Studio does
      if (error !== undefined) throw error;
      return data;
    },
  });
  try {
    const settled = await new Promise<ReturnType<typeof observer.getCurrentResult>>((resolve) => {
      const stop = observer.subscribe((result) => {
        if (result.fetchStatus !== 'idle' || result.status === 'pending') return;
        stop();
        resolve(result);
      });
    });
    const ms = performance.now() - started;
    // Studio reads errors off the pages alone.
    const pages = settled.data?.pages ?? [];
    return {
      shown: pages.map(({ error }) => error).find((error) => error !== undefined) ?? null,
      rows: pages.flatMap(({ result = [] }) => result),
      requests: between.requests(),
      ms,
    };
  } finally {
    queries.clear();
    between.close();
  }
}
