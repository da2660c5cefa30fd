import { setTimeout as sleep } from 'node:timers/promises';

import type { Endpoint } from '../../src/endpoints/endpoint';
import { ENDPOINTS, ScriptedEngine, serve, type Served } from './served';

const [PLAIN] = ENDPOINTS;
if (PLAIN === undefined) throw new Error('No endpoints.');

let served: Served;
afterEach(() => served.close());

it('an endpoint loaded while draining, with a longer timeout, is not cut off', async () => {
  const engine = new ScriptedEngine();
  const endpoints: Endpoint[] = [{ ...PLAIN, timeout: 50 }];
  served = await serve({ engine, endpoints, timeout: 50 });
  let complete = (): void => undefined;
  const running = new Promise<void>((begun) => {
    engine.onRun = () => {
      begun();
      return new Promise((resolve) => (complete = resolve));
    };
  });
  // SIGTERM: the listener stays open for DRAIN_DELAY.
  served.lifecycle.drain();
  endpoints[0] = { ...PLAIN, timeout: 60_000, revision: 'reloaded' };
  const url = `http://127.0.0.1:${String(served.port)}/api/endpoints/query/${PLAIN.name}?project=default`;
  const response = fetch(url, { headers: { 'X-API-KEY': 'all' } });
  await running;
  const drained = served.drain(10);
  // Beyond every cut-off known at the start.
  await sleep(200);
  complete();
  expect((await response).status).toBe(200);
  expect(await (await response).json()).toHaveProperty('result');
  await drained;
});
