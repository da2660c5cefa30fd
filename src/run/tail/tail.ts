/** A live tail: rows of an endpoint as they arrive (docs/querying.md). */
import { type RunLimits, groupOf } from '@logquay/duckdb-engine/concurrency';
import type { Endpoint } from '../../endpoints/endpoint';
import { withoutMovingStarts } from '../../endpoints/parameters';
import { readSwitch } from '../../endpoints/reserved-parameters';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import { openLql } from '../lql-text';
import type { Engine } from '@logquay/duckdb-engine/contract';
import { authorise, checkResolves } from '../authorise';
import { limitsOf } from '../execute';
import { createPlan, planRequest } from '../plan';
import { readingHeaders } from '../response-headers';
import type { Services } from '../services';
import type { RequestPlan } from '../types';
import type { TailPosition, TailRequest, TailRows } from './types';
import { Listener } from './listener';
import { rowEvents, type SharedTail } from './shared-tail';
import { TailQuery } from './tail-query';
import type { Tails } from './tails';

/**
 * Sends the rows of an endpoint as they arrive, until the client leaves or something that the stream rests on changes. Resolves
 * when the client has what there was.
 *
 * @throws ServiceError while nothing has been sent
 */
export async function tail(request: TailRequest, services: Services): Promise<void> {
  const { key, endpoint } = await authorise(request, services);
  await checkResolves(endpoint, services);
  const tails = tailsOf(services);
  const plan = await tailPlan(request, key, endpoint, services);
  if (plan.query !== null) request.record({ query: plan.query });
  const slot = tails.reserve(key);
  let opened = false;
  const release = (): void => {
    slot.release();
    if (opened) tails.release(plan);
    opened = false;
  };
  try {
    const { limits } = limitsOf(plan, request, services);
    const own = { ...limits, keyName: plan.payer };
    const compose = (limits: RunLimits): Promise<TailQuery> => TailQuery.of(plan, services, limits);
    const shared = await request.timed('gate', () => tails.open(plan, compose, own));
    opened = true;
    await follow(request, key, { plan, shared, tails, limits: own, release }, services);
  } catch (error) {
    release();
    throw error;
  }
}

interface Following {
  readonly plan: RequestPlan;
  readonly shared: SharedTail;
  readonly tails: Tails;
  readonly limits: RunLimits;
  /** Called when nobody listens any more. */
  readonly release: () => void;
}

async function follow(
  request: TailRequest,
  key: Key,
  { plan, shared, tails, limits, release }: Following,
  services: Services,
): Promise<void> {
  const { keys } = services;
  const { cursors } = tails;
  const purpose = purposeOf(plan);
  const [cursor = ''] = request.header('last-event-id');
  const from = cursor === '' ? null : cursors.read(cursor, purpose);
  const history = from === null && (await wantsHistory(plan, request, services));
  const { rows, upTo, epoch } = await request.timed('engine', () => firstRows(shared, from, history, limits));
  request.signal.throwIfAborted();

  const headers = [...HEADERS, ...readingHeaders(plan)];
  const writer = request.beginEvents(headers);
  const options = { key, endpoint: plan.endpoint, writer, purpose, cursors };
  const listener: Listener = new Listener(
    {
      ...options,
      authenticate: (before) => keys.authenticate((name) => request.header(name), { key: before, inTime: true }),
      onEnd: (cause) => {
        shared.remove(listener);
        tails.remove(listener, cause);
        release();
      },
    },
    { epoch, after: upTo },
  );
  tails.add(listener, services);
  const start = from ?? { epoch, after: upTo, upTo, given: 0 };
  // There is no place among the rows that were there before: who loses the stream within them begins again.
  const idOf = (position: TailPosition): string | null => {
    if (position.given === 0) return listener.idOf(position);
    return from === null ? null : listener.idOf(position);
  };
  listener.begin(from === null && rows.length > 0 ? null : start);
  if (rows.length > 0) await listener.giveWhenRead(await rowEvents(rows, { ...start, epoch, upTo }, idOf));
  await shared.join(listener);
}

/** The rows that come first: those behind a position, those that there are, or none. */
async function firstRows(
  shared: SharedTail,
  from: TailPosition | null,
  history: boolean,
  limits: RunLimits,
): Promise<TailRows> {
  const { query } = shared;
  if (history) return query.rowsBefore(limits);
  const { end } = shared;
  if (from === null) return { rows: [], upTo: end.after, epoch: end.epoch };
  const { epoch, after, given } = from;
  // An evaluation of which some rows were given is repeated as it was.
  const upTo = given > 0 ? from.upTo : Math.max(after, end.after);
  const result = await query.rows({ epoch, after, upTo, whole: given > 0 }, limits);
  return { ...result, rows: result.rows.slice(given) };
}

/** @throws ServiceError as planRequest; invalidParameter for what has no meaning here */
async function tailPlan(request: TailRequest, key: Key, endpoint: Endpoint, services: Services): Promise<RequestPlan> {
  if (!acceptsEvents(request.header('accept').join(', '))) {
    throw new ServiceError('notAcceptable', `A live tail is ${EVENTS}.`, { allowed: [EVENTS] });
  }
  const plan = await planRequest(request, key, endpoint, services, 'application/json');
  const { purpose, page } = plan;
  const parameter =
    purpose === 'dry run' ? 'dry_run' : purpose === 'export' ? 'export' : page !== null ? 'page_size' : null;
  if (parameter === null) {
    if (plan.endpoint.builtIn !== undefined && plan.query === null) throw namesNoTable(plan.endpoint);
    return withoutStarts(plan, key, services);
  }
  throw new ServiceError('invalidParameter', `Parameter "${parameter}" has no place in a live tail.`, { parameter });
}

/** The table with the newest row now need not be the one whose rows come next, and may be of Parquet files, whose rows never come. */
function namesNoTable({ name, cteTables }: Endpoint): ServiceError {
  return new ServiceError(
    'invalidParameter',
    `A live tail of the endpoint ${name} follows one table, which its query names.`,
    {
      parameter: 'lql',
      hint: `Name the table: lql=f:${cteTables[0] ?? 'NAME'}.`,
      allowed: cteTables.map((table) => `f:${table}`),
    },
  );
}

/**
 * A tail reads what arrives, whatever `default_lookback` says: a start that moved on would part its evaluations from each other,
 * and its places from the rows they were given for.
 */
function withoutStarts(plan: RequestPlan, key: Key, services: Services): RequestPlan {
  if (plan.moving === null) return plan;
  const parameters = withoutMovingStarts(plan.parameters, plan.moving);
  return createPlan({ ...plan, parameters, moving: null }, key, services);
}

const EVENTS = 'text/event-stream';

function acceptsEvents(accept: string): boolean {
  return (
    accept === '' || accept.split(',').some((one) => /^\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:;|$)/i.test(one))
  );
}

/** @throws ServiceError notImplemented on BigQuery; accessDenied where no rows arrive that could be told from others */
function tailsOf({ engine, tails }: Pick<Services, 'engine' | 'tails'>): Tails {
  if (engine.kind === 'bigquery') {
    const hint = 'Run the endpoint again at an interval of your own: each run is billed.';
    throw new ServiceError('notImplemented', 'There are no live tails on BigQuery.', { hint });
  }
  if (tails !== undefined && mayFollow(engine)) return tails;
  throw new ServiceError('accessDenied', 'There is no live tail here.', {
    hint: 'The embedded engine follows DATA_DIR.',
  });
}

/** Whether rows can be had as they arrive. */
export function mayFollow(engine: Pick<Engine, 'runArrived' | 'dataStatus'>): boolean {
  return engine.runArrived !== undefined && (engine.dataStatus?.() ?? null) !== null;
}

/** Whether the rows that there are come first: `history`, or a start in LQL. */
async function wantsHistory(
  { endpoint, query }: RequestPlan,
  request: TailRequest,
  { now }: Pick<Services, 'now'>,
): Promise<boolean> {
  if (readSwitch(endpoint, await request.parameters(), 'history')) return true;
  if (query?.language !== 'lql') return false;
  const lql = openLql(query.text, { tables: endpoint.cteTables, now: now() });
  return lql?.rules.filters.some(({ role }) => role === 'time') ?? false;
}

/** Everything that a position depends on: a cursor is good for the same request of the same key, over the same definition. */
function purposeOf({ endpoint, query, parameters, payer, redacted, isoTimestamps }: RequestPlan): string {
  const values = parameters.map(({ name, value }) => [name, value]);
  return JSON.stringify([
    'tail',
    groupOf(payer),
    endpoint.id,
    endpoint.revision,
    query,
    values,
    redacted,
    isoTimestamps,
  ]);
}

/** No cache looks at a stream, and none keeps one (RFC 9211, 2.2). */
const HEADERS = ['Cache-Control', 'private, no-store', 'Cache-Status', 'logquay; fwd=bypass'];
