import { ServiceError } from '../errors';
import { jsonAnswer } from './answer';
import { errorAnswer } from './error-answer';
import type { Exchange } from './exchange';
import type { Lifecycle, Readiness } from './lifecycle';

const WHY: Readonly<Record<Exclude<Readiness, 'ready'>, string>> = {
  starting: 'The service is starting.',
  draining: 'The service is ending.',
  'engine-unavailable': 'The engine does not answer.',
};

/** `GET /health`: the process answers. It needs no key and asks nobody. */
export function answerHealth(exchange: Exchange): void {
  exchange.answer(jsonAnswer(200, { status: 'ok' }));
}

/** `GET /ready`: whether requests should be sent here. A 503 has the shape of every error, and the state beside it. */
export async function answerReady(exchange: Exchange, lifecycle: Lifecycle): Promise<void> {
  const status = await lifecycle.readiness();
  if (status === 'ready') {
    const { engine, cacheState } = lifecycle.rooms();
    exchange.answer(jsonAnswer(200, { status, engine: engine.kind, cache: cacheState() }));
    return;
  }
  const error = errorAnswer(new ServiceError('backendUnavailable', WHY[status], { retryAfter: 1 }), exchange.id);
  const body = { status, ...(JSON.parse(String(error.body)) as object) };
  exchange.answer({ ...error, body: Buffer.from(JSON.stringify(body)) });
}
