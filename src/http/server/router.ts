import express, { type Express, type NextFunction, type Request, type Response } from 'express';

import { ServiceError } from '../../errors';
import { Health } from '../../health/health';
import type { Explorer } from '../explorer';
import { checkHead } from '../request/headers';
import { answerCatalogue, answerEndpoint, answerKey, answerSearches, answerUsage } from '../routes/catalogue';
import { answerCollect, refuseDrains } from '../routes/collect';
import { answerOtlp } from '../routes/otlp';
import { answerMetrics, type GuardedMetrics, hasMetricsKey, answerHealth, answerReady } from '../routes/probes';
import { answerAnalysis, answerRun, answerSchema, answerTail } from '../routes/run';
import type { Cors } from '../response/cors';
import { DocsRoutes } from '../routes/docs/routes';
import type { Exchange } from '../exchange';
import type { Lifecycle } from './lifecycle';
import { McpRoute } from '../routes/mcp';

export interface RouterOptions {
  readonly cors: Cors;
  readonly lifecycle: Lifecycle;
  /** Who may read what is made from the catalogue: everybody, keys, or nobody. */
  readonly docs: 'open' | 'key' | 'off';
  /** The page for people; null or absent: there is none. */
  readonly explorer?: Explorer | null;
  /** Whether assistants are answered at `/mcp`; absent: no. */
  readonly mcp?: boolean;
  /** null: there is no `/metrics`. */
  readonly metrics: GuardedMetrics | null;
  /** Whether errors of consumer queries are answered as Logflare does; absent: no. */
  readonly logflareErrors?: boolean;
  /** Whether logs are taken in; absent: no. */
  readonly collects?: boolean;
  /** What is impaired; without, nothing ever is. */
  readonly health?: Pick<Health, 'degradations'>;
}

/** Where a stored endpoint is run. */
export const RUN_PATH = '/api/endpoints/query/:idOrName';

/** Where older clients of Logflare run one. */
const RUN_ALIASES = ['/endpoints/query/:idOrName', '/api/endpoints/query/name/:idOrName'];

/** Where Supabase Studio edits log drains. */
const DRAIN_PATHS = ['/api/backends', '/api/backends/:id', '/api/sources', '/api/rules'];

/** Where shippers of Logflare send logs. */
const COLLECT_PATHS = ['/api/logs', '/logs', '/api/events'];

type Reply = Response<unknown, { exchange: Exchange }>;

/** Does a request of one method; what it throws is answered as an error. */
type Action = (exchange: Exchange, request: Request) => Promise<void> | void;

/**
 * The service's routes (docs/querying.md). Express finds the route of a request whose `Exchange` stands in
 * `response.locals`; everything that an answer is made of is written by that.
 */
export function createRouter(options: RouterOptions): Express {
  const { cors, lifecycle, docs, explorer = null, metrics, logflareErrors = false, health = new Health() } = options;
  const { collects = false } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Parameters are read from the raw URL: Express's own reading loses order and repetitions.
  app.set('query parser', false);
  app.enable('case sensitive routing');

  app.use((request, response: Reply, next) => {
    checkHead(request, response.locals.exchange.headers);
    next();
  });

  const route = (path: string, actions: { readonly GET?: Action; readonly POST?: Action }): void => {
    const methods = Object.keys(actions).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allowed = [...methods, 'OPTIONS'];
    const actionFor = new Map([
      ['GET', actions.GET],
      ['HEAD', actions.GET],
      ['POST', actions.POST],
    ]);
    app.all(path, async (request, response: Reply) => {
      const { exchange } = response.locals;
      exchange.telemetry.route = path;
      const action = actionFor.get(request.method);
      if (action !== undefined) {
        await action(exchange, request);
      } else if (request.method === 'OPTIONS') {
        const headers = { Allow: allowed.join(', '), ...cors.preflight(exchange.headers, methods) };
        exchange.send({ status: 204, headers, body: null });
      } else {
        throw new ServiceError('methodNotAllowed', `${request.method} is not allowed here.`, { allowed });
      }
    });
  };

  route('/health', { GET: answerHealth });
  route('/ready', {
    GET: (exchange) => {
      const operator = hasMetricsKey(exchange.headers, metrics?.key ?? null);
      return answerReady(exchange, lifecycle, health, operator);
    },
  });
  const answerQuery: Action = (exchange, request) =>
    answerRun(exchange, last(request), lifecycle.services(), logflareErrors);
  for (const path of [RUN_PATH, ...RUN_ALIASES]) route(path, { GET: answerQuery, POST: answerQuery });
  if (collects) {
    for (const path of COLLECT_PATHS) {
      route(path, { POST: (exchange) => answerCollect(exchange, lifecycle.services()) });
    }
    route('/v1/logs', { POST: (exchange) => answerOtlp(exchange, () => lifecycle.services()) });
  }
  for (const path of DRAIN_PATHS) {
    app.all(path, (_request, response: Reply) => {
      const { exchange } = response.locals;
      exchange.telemetry.route = path;
      refuseDrains(exchange, lifecycle.services());
    });
  }
  const follow: Action = (exchange, request) => answerTail(exchange, last(request), lifecycle.services());
  route('/api/endpoints/tail/:idOrName', { GET: follow, POST: follow });
  const analyse: Action = (exchange, request) => answerAnalysis(exchange, last(request), lifecycle.services());
  route('/api/endpoints/analyze/:idOrName', { GET: analyse, POST: analyse });
  route('/api/endpoints/schema/:idOrName', {
    GET: (exchange, request) => answerSchema(exchange, last(request), lifecycle.services()),
  });
  if (options.mcp === true) {
    const mcp = new McpRoute(cors);
    route('/mcp', { POST: (exchange) => mcp.answer(exchange, lifecycle.services()) });
  }
  route('/api/key', {
    GET: (exchange) => {
      answerKey(exchange, lifecycle.services());
    },
  });
  route('/api/searches', { GET: (exchange) => answerSearches(exchange, lifecycle.services()) });
  route('/api/usage', { GET: (exchange) => answerUsage(exchange, lifecycle.services()) });
  route('/api/endpoints', {
    GET: (exchange) => {
      answerCatalogue(exchange, lifecycle.services());
    },
  });
  route('/api/endpoints/:idOrName', {
    GET: (exchange, request) => {
      answerEndpoint(exchange, last(request), lifecycle.services());
    },
  });

  if (docs !== 'off') {
    const pages = new DocsRoutes(docs, explorer !== null);
    route('/openapi.json', { GET: (exchange) => pages.answerOpenApi(exchange, lifecycle.services()) });
    route('/docs', { GET: (exchange) => pages.answerPage(exchange, lifecycle.services()) });
  }

  if (explorer !== null) {
    route('/explore', { GET: (exchange) => explorer.answerPage(exchange, lifecycle) });
    route('/explore/:file', {
      GET: (exchange, request) => explorer.answerFile(exchange, String(request.params.file)),
    });
  }
  const home = explorer !== null ? 'explore' : docs !== 'off' ? 'docs' : null;
  if (home !== null) {
    route('/', {
      GET: (exchange) => {
        // Relative, as a proxy may serve this under a path of its own.
        exchange.send({ status: 307, headers: { Location: home, 'Cache-Control': 'no-store' }, body: null });
      },
    });
  }

  if (metrics !== null) route('/metrics', { GET: (exchange) => answerMetrics(exchange, metrics) });

  const hint =
    docs === 'off' ? 'GET /api/endpoints lists the endpoints of a key.' : 'Every path is described at /docs.';
  app.use(() => {
    throw new ServiceError('notFound', 'There is nothing under this path.', { hint });
  });
  // Express knows a handler of errors by its four parameters.
  app.use((error: unknown, _request: Request, response: Reply, _next: NextFunction) => {
    response.locals.exchange.fail(fromExpress(error));
  });
  return app;
}

function last(request: Request): string {
  return String(request.params.idOrName);
}

/** Express's own complaint: a path whose percent-escapes do not decode. */
function fromExpress(error: unknown): unknown {
  if (!(error instanceof URIError)) return error;
  return new ServiceError('invalidParameter', 'The path holds a malformed percent-escape.', {}, { cause: error });
}
