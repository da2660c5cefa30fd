import { type IncomingMessage } from 'node:http';
import { BigQueryError, invalid } from '../query/error';
import { type Context } from './api';
import { SHAPES, type ControlInput } from './shape';
import { ok, type ApiReply } from './routes';

/**
 * The control path, for tests on this machine: GET tells what was seen; POST `{reset, faults, shape, ignoreDefaultDataset,
 * clock}` sets what is to come, and tells it too.
 */
export function answerControl(
  context: Context,
  request: IncomingMessage,
  body: Readonly<Record<string, unknown>>,
): ApiReply {
  if (!/^(::ffff:)?127\.|^::1$/.test(request.socket.remoteAddress ?? ''))
    return { status: 403, json: new BigQueryError('accessDenied', 'The control path answers loopback alone').body };
  try {
    if (request.method === 'POST') apply(context, body);
  } catch (error) {
    if (!(error instanceof BigQueryError)) throw error;
    return { status: error.code, json: error.body };
  }
  return ok({
    shape: context.shape,
    clock: context.clock.text,
    faults: context.faults.pending,
    counters: context.log.counters,
    requests: context.log.seen,
    jobs: context.jobs.all().map((job) => ({
      id: job.id,
      state: job.done ? 'DONE' : 'RUNNING',
      cancelled: job.cancelled,
      error: job.error?.reason ?? null,
    })),
  });
}

function apply(context: Context, body: ControlInput): void {
  if (body.reset === true) {
    context.faults.clear();
    context.log.clear();
    context.jobs.clear();
    context.shape.name = 'bigquery';
    context.shape.ignoreDefaultDataset = false;
  }
  if (body.shape !== undefined) {
    const shape = SHAPES.find((name) => name === body.shape);
    if (shape === undefined) throw invalid(`A shape is one of ${SHAPES.join(', ')}`);
    context.shape.name = shape;
  }
  if (body.ignoreDefaultDataset !== undefined) context.shape.ignoreDefaultDataset = body.ignoreDefaultDataset === true;
  if (body.clock !== undefined) context.clock.set(body.clock === null ? null : String(body.clock));
  for (const fault of Array.isArray(body.faults) ? (body.faults as unknown[]) : []) context.faults.add(fault);
}
