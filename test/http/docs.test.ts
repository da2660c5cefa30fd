import { readFileSync } from 'node:fs';
import path from 'node:path';

import request from 'supertest';

import { Cors } from '../../src/http/response/cors';
import { Explorer } from '../../src/http/explorer';
import { EncodedResponse } from '../../src/rendering/encoded-response';
import { Secret } from '../../src/config';
import { Metrics } from '../../src/metrics/metrics';
import { Lifecycle } from '../../src/http/server/lifecycle';
import { createRouter } from '../../src/http/server/router';
import { SECURITY_HEADERS } from '../../src/http/response/head';
import { ScriptedEngine, serve, type Served } from './served';

const PAGE = readFileSync(path.join(__dirname, '../../docs/http.md'), 'utf8');

/** The code words in the first column of the table under a heading. */
function firstColumn(heading: string, column = 1): string[] {
  const section = PAGE.split(new RegExp(`^#+ ${heading}$`, 'm'))[1]?.split(/^#/m)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `') || line.startsWith('| GET'));
  return rows.flatMap((row) =>
    [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? ''),
  );
}

const METRICS = { metrics: new Metrics(), key: new Secret('m') };

describe('docs/http.md', () => {
  it('names the routes that there are', () => {
    const page = {
      response: new EncodedResponse(Buffer.from(''), 'application/json', false),
      contentType: 'text/html',
    };
    const explorer = new Explorer('open', { page, assets: new Map() });
    const options = {
      cors: new Cors([]),
      lifecycle: new Lifecycle(),
      docs: 'open',
      explorer,
      metrics: METRICS,
    } as const;
    const router = createRouter(options);
    const routes = router.router.stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));
    expect(firstColumn('Routes', 2).sort()).toEqual(routes.sort());
  });

  describe('names the headers of answers', () => {
    /** Node's own, of the transport. */
    const TRANSPORT = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];
    const engine = new ScriptedEngine('bigquery');
    let served: Served;
    beforeAll(async () => {
      engine.rows = Array.from({ length: 30 }, () => '{"id":1,"message":"text"}');
      engine.truncated = true;
      engine.bytes = { processed: 1n, billed: 2n };
      served = await serve({ engine, corsOrigins: '*', rate: 100, logflareErrors: true });
    });
    afterAll(() => served.close());

    it('that are sent, and no others', async () => {
      const seen = new Set<string>();
      const origin = { Origin: 'https://a.example' };
      const run = '/api/endpoints/query/test.plain?project=a';
      const agent = request(served.server);
      engine.onRun = () => Promise.resolve();
      const answers = [
        await agent.get(run).set({ ...origin, 'X-API-KEY': 'all' }),
        await agent.get('/api/endpoints/query/test.typed?project=a').set({ ...origin, 'X-API-KEY': 'all' }),
        await agent.get('/api/endpoints/query/test.typed?project=a&sql=x').set({ ...origin, 'X-API-KEY': 'all' }),
        await agent.get(`${run}&unknown=1`).set({ ...origin, 'X-API-KEY': 'all' }),
        await agent.get('/api/endpoints').set({ ...origin, 'X-API-KEY': 'all' }),
        await agent.get('/health').set(origin),
        await agent.get(run).set(origin),
        await agent.delete(run).set(origin),
        await agent.options(run).set({ ...origin, 'Access-Control-Request-Method': 'GET' }),
      ];
      served.lifecycle.drain();
      answers.push(await agent.get('/ready'));
      for (const { headers } of answers) {
        for (const name of Object.keys(headers)) seen.add(name);
      }
      // Of an LQL text, which the scripted engine does not take (test/process/analysis.test.ts).
      seen.add('x-query-warnings');
      // Of a start that is left to `default_lookback` (test/run/default-lookback.ts).
      seen.add('x-default-parameters');
      // Of an export (test/process/exports.test.ts).
      seen.add('content-disposition');
      const security = new Set(Object.keys(SECURITY_HEADERS).map((name) => name.toLowerCase()));
      const sent = [...seen].filter((name) => !TRANSPORT.includes(name) && !security.has(name));
      expect(
        firstColumn('Response headers')
          .map((name) => name.toLowerCase())
          .sort(),
      ).toEqual(sent.sort());
    });

    it('that are for security', () => {
      const documented = PAGE.split('security headers:')[1]?.split(/\n\n/)[0] ?? '';
      const names = [...documented.matchAll(/`([^`]+)`/g)].map(([, name]) => name?.toLowerCase());
      expect(names.sort()).toEqual(
        Object.keys(SECURITY_HEADERS)
          .map((name) => name.toLowerCase())
          .sort(),
      );
    });
  });

  it('names the request headers that the code reads', () => {
    const files = [
      'run/plan.ts',
      'http/response/conditional.ts',
      'http/exchange.ts',
      'http/request-log.ts',
      'http/request/body.ts',
      'http/response/cors.ts',
      'keys/key.ts',
    ];
    const source = files.map((file) => readFileSync(path.join(__dirname, '../../src', file), 'utf8')).join('');
    const read = [...source.matchAll(/(?:header|values|list)\('([a-z-]+)'\)/g)].map(([, name]) => name ?? '');
    // Of the transport or of a preflight: nothing that a caller decides to send.
    const undocumented = ['content-length', 'content-encoding', 'access-control-request-method'];
    const documented = firstColumn('Request headers').map((name) => name.toLowerCase());
    expect([...new Set(read)].filter((name) => !undocumented.includes(name)).sort()).toEqual(documented.sort());
  });
});
