import { setTimeout as sleep } from 'node:timers/promises';

import { LONG } from '../scale';
import { type SampleRequest, askUntilRefused } from './looping-client';
import { Stage } from './started';

jest.setTimeout(180_000);

const RUN = '/api/endpoints/query/logs.all';
const BODY = JSON.stringify({ project: 'default', sql: 'select id, event_message from postgres_logs limit 20' });

const GET: SampleRequest = { method: 'GET', path: `${RUN}?project=default` };
const POST: SampleRequest = { method: 'POST', path: RUN, body: BODY };
const CATALOGUE: SampleRequest = { method: 'GET', path: '/api/endpoints' };

/** What clients ask, and how long they think in between; some are found in the middle of it when the listener closes. */
const CLIENTS: readonly (readonly [SampleRequest, number])[] = [
  ...[0, 0, 5, 50, 150, 300].flatMap((pause) => [[GET, pause] as const, [POST, pause] as const]),
  // Cheap and many: when the listener closes, several have just sent what nobody has read yet, or were just accepted.
  ...Array.from({ length: LONG ? 150 : 60 }, () => [CATALOGUE, 0] as const),
];

it('SIGTERM under load leaves no request without its answer, and ends with 0', async () => {
  const stage = new Stage();
  try {
    const service = stage.start({ API_KEY: 'k', DRAIN_DELAY: '1', LOG_LEVEL: 'warn' });
    const port = await service.port();
    const isRight = (answer: string): boolean =>
      /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{"result":\[\{"id":.*\}\]\}$/.test(answer);
    const clients = CLIENTS.map(([sample, pause]) => askUntilRefused(port, sample, pause, isRight));
    // In the middle of it: everybody has used their connection more than once.
    while (clients.slice(0, 12).some(({ seen }) => seen.answered < 3)) await sleep(10);
    service.signal('SIGTERM');
    const ready = `http://127.0.0.1:${String(port)}/ready`;
    let answer = await fetch(ready);
    for (; answer.status === 200; answer = await fetch(ready)) await sleep(10);
    expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([503, 'draining']);
    expect(await service.exit).toBe(0);
    for (const { seen, done } of clients) {
      await done;
      expect(seen.faults).toEqual([]);
    }
    const reset = clients.reduce((sum, { seen }) => sum + seen.reset, 0);
    expect(reset).toBeLessThan(3);
  } finally {
    await stage.end();
  }
});
