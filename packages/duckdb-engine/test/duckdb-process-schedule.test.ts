import type { Request } from '../src/process/messages';
import { RefusedRequests } from '../src/process/refused-requests';
import { Schedule } from '../src/process/schedule';
import { queryOf } from './queries';

/** Named for the key it is of, and which it is: `a1`. */
class Call {
  deaths = 0;
  readonly keyName: string;

  constructor(readonly name: string) {
    this.keyName = name.charAt(0);
  }
}

const namesOf = (some: Iterable<Call>): string[] => [...some].map(({ name }) => name);
const NONE: ReadonlySet<Call> = new Set();

function scheduled(...names: string[]): { schedule: Schedule<Call>; call: (name: string) => Call } {
  const schedule = new Schedule<Call>();
  const calls = new Map(names.map((name) => [name, new Call(name)]));
  for (const call of calls.values()) schedule.add(call);
  return { schedule, call: (name) => calls.get(name)! };
}

it('after a death of unknown cause tries one suspect at a time, those of who has fewest first, the last one first', () => {
  const { schedule, call } = scheduled('a1', 'a2', 'b1', 'a3');
  schedule.take();
  expect(schedule.died(NONE, false, true)).toEqual([]);
  for (const name of ['a4', 'b2', 'c1']) schedule.add(new Call(name));
  // Who is not suspected waits for nobody.
  expect(namesOf(schedule.take())).toEqual(['b1', 'c1']);
  expect(schedule.onTrial).toBe(call('b1'));
  expect(namesOf(schedule.take())).toEqual([]);
  schedule.delete(call('b1'));
  expect(namesOf(schedule.take())).toEqual(['a3', 'b2']);
  // A trial has an end, however long the call takes.
  schedule.acquit();
  expect(namesOf(schedule.take())).toEqual(['a2']);
  schedule.delete(call('a2'));
  expect(namesOf(schedule.take())).toEqual(['a1']);
  schedule.delete(call('a1'));
  expect(namesOf(schedule.take())).toEqual(['a4']);
});

it('refuses the one on trial when the process dies again, and goes on with the others', () => {
  const { schedule } = scheduled('a1', 'a2');
  schedule.take();
  schedule.died(NONE, false, true);
  schedule.add(new Call('b1'));
  expect(namesOf(schedule.take())).toEqual(['a2', 'b1']);
  expect(namesOf(schedule.died(NONE, false, true))).toEqual(['a2']);
  expect(namesOf(schedule.take())).toEqual(['a1', 'b1']);
});

it('refuses one that was there at three deaths', () => {
  const { schedule } = scheduled('a1');
  const dieTogether = (): string[] => {
    schedule.take();
    schedule.acquit();
    schedule.add(new Call('b1'));
    while (schedule.take().length > 0) schedule.acquit();
    return namesOf(schedule.died(NONE, false, true));
  };
  expect([dieTogether(), dieTogether(), dieTogether()]).toEqual([[], [], expect.arrayContaining(['a1'])]);
});

describe('requests that a process had to be ended for', () => {
  const MINUTE = 60_000;
  let now: number;
  let refused: RefusedRequests;
  beforeEach(() => {
    now = 5_000;
    refused = new RefusedRequests(() => now);
  });

  const query = (sql: string, stored = false): Request => ({ kind: 'run', query: queryOf(sql, { stored }) });
  const end = (keyName: string, ...texts: readonly string[]): void =>
    refused.add(texts.map((sql) => ({ request: query(sql), keyName })));
  const check = (keyName: string, sql: string, stored = false): void =>
    refused.check({ request: query(sql, stored), keyName });

  it('are refused for an hour, whoever sends them; others are not', () => {
    end('a', 'select 1');
    now += 60 * MINUTE - 1;
    for (const keyName of ['a', 'b']) {
      expect(() => check(keyName, 'select 1')).toThrow(expect.objectContaining({ reason: 'resourcesExceeded' }));
      expect(() => check(keyName, 'select 2')).not.toThrow();
    }
    now += 1;
    expect(() => check('a', 'select 1')).not.toThrow();
  });

  const busy = (retryAfter: number): Error =>
    expect.objectContaining({ reason: 'tooManyConcurrentQueries', details: { retryAfter } }) as Error;

  it('refuse a key for ten minutes whose texts were the reason three times in ten, but for stored queries', () => {
    for (const text of ['1', '2', '3']) {
      expect(() => refused.checkKey('a')).not.toThrow();
      end('a', text);
      now += 5 * MINUTE;
    }
    expect(() => check('a', 'select 1')).toThrow(busy(300));
    expect(() => check('a', 'select 1', true)).not.toThrow();
    expect(() => check('b', 'select 1')).not.toThrow();
    now += 5 * MINUTE;
    expect(() => check('a', 'select 1')).not.toThrow();
  });

  it('count once for a process, not beyond ten minutes, and not where the operator wrote them', () => {
    end('a', '1', '2', '3');
    now += 6 * MINUTE;
    end('a', '4');
    now += 6 * MINUTE;
    end('a', '5');
    refused.add([{ request: query('6', true), keyName: 'a' }]);
    expect(() => refused.checkKey('a')).not.toThrow();
    end('a', '7');
    expect(() => refused.checkKey('a')).toThrow(busy(600));
  });

  it('are told by their texts, those of operators by their values too', () => {
    const one = (stored: boolean, value: string): { readonly request: Request; readonly keyName: string } => {
      const request = query('select @v', stored) as Request & { readonly kind: 'run' };
      const parameters = [{ name: 'v', type: 'STRING', value }] as const;
      return { request: { ...request, query: { ...request.query, parameters } }, keyName: 'a' };
    };
    refused.add([one(true, 'x')]);
    expect(() => refused.check(one(true, 'x'))).toThrow();
    expect(() => refused.check(one(true, 'y'))).not.toThrow();
    refused.add([one(false, 'x')]);
    expect(() => refused.check(one(false, 'y'))).toThrow();
  });

  it('are remembered up to a bound', () => {
    for (let i = 0; i <= 1_000; i++) end(`key ${i}`, `select ${i}`);
    expect(() => check('a', 'select 0')).not.toThrow();
    expect(() => check('a', 'select 1')).toThrow();
  });
});
