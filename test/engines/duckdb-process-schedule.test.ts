import { Schedule } from '../../src/engines/duckdb/process/schedule';

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

it('sends everything at once while nothing has happened', () => {
  const { schedule } = scheduled('a', 'b');
  expect(namesOf(schedule.take())).toEqual(['a', 'b']);
  expect(namesOf(schedule.take())).toEqual([]);
});

it('after a death of unknown cause tries one suspect at a time, those of who has fewest first, the last one first', () => {
  const { schedule, call } = scheduled('a1', 'a2', 'b1', 'a3');
  schedule.take();
  expect(schedule.died(NONE, true)).toEqual([]);
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
  schedule.died(NONE, true);
  schedule.add(new Call('b1'));
  expect(namesOf(schedule.take())).toEqual(['a2', 'b1']);
  expect(namesOf(schedule.died(NONE, true))).toEqual(['a2']);
  expect(namesOf(schedule.take())).toEqual(['a1', 'b1']);
});

it('knows the reason at once where only one ran', () => {
  const { schedule } = scheduled('a1');
  schedule.take();
  expect(namesOf(schedule.died(NONE, true))).toEqual(['a1']);
});

it('gives one that ran alone a second chance where the cause may have been outside', () => {
  const { schedule } = scheduled('a1');
  schedule.take();
  expect(schedule.died(NONE, false)).toEqual([]);
  expect(namesOf(schedule.take())).toEqual(['a1']);
  expect(namesOf(schedule.died(NONE, false))).toEqual(['a1']);
  expect(namesOf(schedule.take())).toEqual([]);
});

it('suspects nobody where the reason is known', () => {
  const { schedule, call } = scheduled('a1', 'b1', 'c1');
  schedule.take();
  expect(namesOf(schedule.died(new Set([call('b1')]), true))).toEqual(['b1']);
  expect(namesOf(schedule.take())).toEqual(['a1', 'c1']);
  expect(call('a1').deaths).toBe(0);
});

it('refuses one that was there at three deaths', () => {
  const { schedule } = scheduled('a1');
  const dieTogether = (): string[] => {
    schedule.take();
    schedule.acquit();
    schedule.add(new Call('b1'));
    while (schedule.take().length > 0) schedule.acquit();
    return namesOf(schedule.died(NONE, true));
  };
  expect([dieTogether(), dieTogether(), dieTogether()]).toEqual([[], [], expect.arrayContaining(['a1'])]);
});

it('forgets a call that is cancelled, wherever it is', () => {
  const { schedule, call } = scheduled('a1', 'b1');
  schedule.delete(call('a1'));
  expect(namesOf(schedule.take())).toEqual(['b1']);
  schedule.delete(call('b1'));
  expect(schedule.running.size).toBe(0);
});
