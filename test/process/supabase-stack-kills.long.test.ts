/** A stack goes on while its log service is killed: what Vector sends again is there once, on every page and for every tool. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Random } from '../dialect/random';
import { until } from '../until';
import { PAGES } from './stack/pages';
import { ask, BATCHES, send, STACK, type StackEvent } from './stack/traffic';
import { Stage } from './started';

/** More for a night: `KILLS=50`. Other instants and batches: `SEED`. */
const KILLS = Number(process.env['KILLS'] ?? 20);
const SEED = Number(process.env['SEED'] ?? 20_261_123);
/** Events of a source: all that an answer may hold is 1,000 rows. */
const MOST = 900;

jest.setTimeout(120_000 + KILLS * 60_000);

const random = new Random(SEED);
const stage = new Stage();
afterAll(() => stage.end());

it('serves every event once, killed at any instant', async () => {
  const folder = stage.folder();
  let service = stage.start(STACK, folder);
  let base = await service.ready();
  let running = true;
  const before = new Date(Date.now() - 60_000).toISOString();
  const sent = new Map<string, StackEvent[]>();

  /** One of Vector's sinks: it sends a batch until it is taken, then the next. */
  const sink = async (source: string): Promise<void> => {
    const events: StackEvent[] = [];
    sent.set(source, events);
    // However soon the service is there again, there is something to lose.
    for (let batches = 0; (running || batches <= KILLS) && events.length < MOST; batches++) {
      const batch = Array.from({ length: 1 + random.int(4) }, () => BATCHES[source]!)
        .flat()
        .map((event, i): StackEvent & { timestamp: string } => ({
          ...event,
          event_message: `${event.event_message} (${String(events.length + i)})`,
          timestamp: new Date().toISOString(),
        }));
      events.push(...batch);
      for (;;) {
        const status = await send(base, source, batch).catch(() => 0);
        if (status === 200) break;
        if (status !== 0 && status < 429) throw new Error(`${source} is answered ${String(status)}.`);
        await sleep(50);
      }
      await sleep(random.int(40 * KILLS));
    }
  };
  const sinks = Promise.all(Object.keys(BATCHES).map(sink));
  for (let i = 0; i < KILLS; i++) {
    await sleep(random.int(1500));
    service.signal('SIGKILL');
    await service.exit;
    service = stage.start(STACK, folder);
    base = await service.ready();
  }
  running = false;
  await sinks;

  const studio = async <Row>(sql: string): Promise<Row[]> => {
    const { result, error } = await ask(base, 'logs.all', { sql });
    expect(error).toBeUndefined();
    return result as Row[];
  };
  const messages = (events: readonly StackEvent[]): string[] => events.map(({ event_message: text }) => text).sort();
  for (const { source, table, list, count, chart, counted, charted } of PAGES) {
    const events = sent.get(source)!;
    const whole = list.replace('limit 100', 'limit 1000');
    expect(events.length).toBeGreaterThan(KILLS);
    await until(async () => (await studio(whole)).length >= events.length);
    expect([table, messages(await studio(whole))]).toEqual([table, messages(events)]);
    expect([table, await studio(count)]).toEqual([table, [{ count: events.filter(counted).length }]]);
    const bars = await studio<Record<string, number>>(chart(before));
    const sum = bars.reduce((n, bar) => n + bar['ok_count']! + bar['warning_count']! + bar['error_count']!, 0);
    expect([table, sum]).toEqual([table, events.filter(charted).length]);
  }
  const requests = messages(sent.get('cloudflare.logs.prod')!).filter((text) => /"[A-Z]+ \/rest\/v1/.test(text));
  const { result } = await ask(base, 'usage.api-counts', { interval: '1day' });
  const rest = (result as { total_rest_requests: number }[]).map(({ total_rest_requests: n }) => n);
  expect(requests.length).toBeGreaterThan(KILLS);
  expect(rest.reduce((sum, n) => sum + n, 0)).toBe(requests.length);
});
