/** Exports: results of any length, sent while the engine still reads them (docs/exports.md). */
import { raceLimits } from '../concurrency/deadline';
import type { Endpoint } from '../endpoints/endpoint';
import { ServiceError } from '../errors';
import type { Key } from '../keys/key';
import { allowedEndpoint, checkMayExport } from './authorise';
import { currentKey, LOOK_AGAIN } from './current-key';
import { engineQuery } from './execute';
import { ExportBody } from './export-body';
import { limitsOf } from './limits';
import type { Services } from './services';
import { composeStatement, forCaller } from './statement';
import type { RequestPlan, RunRequest } from './types';

/**
 * Runs a plan and sends its rows as they come. Until the first of them a failure is answered as any other; a later one breaks
 * the connection, so that nobody takes a part for the whole.
 *
 * @throws ServiceError as `execute`, `resourcesExceeded` for more rows than the endpoint exports, and as `authorise` as soon as the key
 *   may not export it any more
 */
export async function exportRows(plan: RequestPlan, key: Key, request: RunRequest, services: Services): Promise<void> {
  const watch = watchRights(plan.endpoint, key, request, services);
  try {
    await sendRows(plan, { request, signal: watch.signal }, services);
  } catch (error) {
    throw watch.lost() ?? error;
  } finally {
    watch.stop();
  }
}

/** Looks again and again whether the key may still export the endpoint: `signal` is aborted when it may not, or the client has left. */
function watchRights(
  endpoint: Endpoint,
  before: Key,
  request: RunRequest,
  { keys, catalogue }: Pick<Services, 'keys' | 'catalogue'>,
): { readonly signal: AbortSignal; readonly lost: () => unknown; readonly stop: () => void } {
  const abort = new AbortController();
  let key = before;
  let lost: unknown = null;
  const timer = setInterval(() => {
    try {
      key = currentKey(() => keys.authenticate((name) => request.header(name)), key);
      checkMayExport(key, allowedEndpoint(catalogue.find(endpoint.id), key));
    } catch (error) {
      lost = error;
      abort.abort();
      clearInterval(timer);
    }
  }, LOOK_AGAIN);
  return {
    signal: AbortSignal.any([request.signal, abort.signal]),
    lost: () => lost,
    stop: () => clearInterval(timer),
  };
}

async function sendRows(
  plan: RequestPlan,
  { request, signal }: { readonly request: RunRequest; readonly signal: AbortSignal },
  services: Services,
): Promise<void> {
  const { endpoint, fenced, asParquet, payer, redacted } = plan;
  const { admission, defaults, engine, exportSlots } = services;
  // Until it has its slots it waits no longer than another run.
  const waiting = { ...limitsOf(plan, request, services).limits, signal, keyName: payer };
  const deadline = request.arrived + defaults.exportTimeout;
  request.expectUntil(deadline);
  const limits = { ...waiting, deadline };

  const maxRows = endpoint.exportRows;
  const statement = await request.timed('gate', () => composeStatement(plan, services, waiting));
  const query = engineQuery(plan, statement, services);
  const body = new ExportBody(plan, request, services, limits);
  const read = async (): Promise<void> => {
    const truncated = await engine.stream(
      { ...query, maxRows, sorted: fenced && !statement.ordered, lines: body.lines },
      limits,
      {
        begin: (head, form) => {
          if (head.bytesBilled !== null) request.record({ billed: head.bytesBilled });
          body.begin(head, form);
        },
        take: (lines, count) => body.write(lines, count),
      },
    );
    if (truncated) throw tooManyRows(maxRows);
    await raceLimits(
      limits,
      () => body.end(),
      () => undefined,
    );
  };
  const copy = async (path: string, signal: AbortSignal): Promise<void> => {
    if ((await engine.copy!(query, path, { ...limits, signal })) > maxRows) throw tooManyRows(maxRows);
  };
  // A file that the engine writes shows by its row groups how rows of others lie between those of a key with pins.
  const isCopied = asParquet && !redacted && !fenced && engine.copy !== undefined;
  const send = isCopied ? (): Promise<void> => body.sendWritten(copy) : read;
  const timed = (): Promise<void> => request.timed('engine', () => send().catch(forCaller(statement)));
  try {
    await request.timed('queue', () =>
      exportSlots.use(payer, waiting, () => admission.use(laneOf(payer), waiting, timed)),
    );
  } finally {
    body.close();
  }
}

/** Exports of a key beside its other runs: those go on while it reads one. */
function laneOf(payer: string): string {
  return `${payer} export`;
}

function tooManyRows(maxRows: number): ServiceError {
  return new ServiceError(
    'resourcesExceeded',
    `The result has more rows than the endpoint exports: ${String(maxRows)}.`,
    {
      hint: 'Export a shorter time range at a time, or set a LIMIT.',
    },
  );
}
