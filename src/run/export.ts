/** Exports: results of any length, sent while the engine still reads them (docs/exports.md). */
import { raceLimits } from '../concurrency/deadline';
import type { RowSink } from '../engines/contract';
import { ServiceError } from '../errors';
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
 * @throws ServiceError as `execute`, and `resourcesExceeded` for more rows than the endpoint exports
 */
export async function exportRows(plan: RequestPlan, request: RunRequest, services: Services): Promise<void> {
  const { endpoint, fenced, payer } = plan;
  const { admission, defaults, engine, exportSlots } = services;
  // Until it has its slots it waits no longer than another run.
  const waiting = { ...limitsOf(plan, request, services).limits, keyName: payer };
  const deadline = request.arrived + defaults.exportTimeout;
  request.expectUntil(deadline);
  const limits = { ...waiting, deadline };

  const statement = await request.timed('gate', () => composeStatement(plan, services, waiting));
  const maxRows = endpoint.exportRows;
  const query = { ...engineQuery(plan, statement, services), maxRows, sorted: fenced && !statement.ordered };
  const body = new ExportBody(plan, request, services, limits);
  const sink: RowSink = {
    begin: (head) => {
      if (head.bytesBilled !== null) request.record({ billed: head.bytesBilled });
      body.begin(head);
    },
    take: (rows) => body.write(rows),
  };
  const read = async (): Promise<void> => {
    const truncated = await engine.stream(query, limits, sink).catch(forCaller(statement));
    if (truncated) throw tooManyRows(maxRows);
    await raceLimits(
      limits,
      () => body.end(),
      () => undefined,
    );
  };
  try {
    await request.timed('queue', () =>
      exportSlots.use(payer, waiting, () => admission.run(laneOf(payer), waiting, () => request.timed('engine', read))),
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
