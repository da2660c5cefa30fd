import { Schedule } from '../../src/engines/duckdb/process/schedule';

class Call {
  deaths = 0;
  constructor(readonly name: string) {}
}

const calls = (...names: string[]): Call[] => names.map((name) => new Call(name));
const namesOf = (some: Iterable<Call>): string[] => [...some].map(({ name }) => name);
const NONE: ReadonlySet<Call> = new Set();

function scheduled(...names: string[]): { schedule: Schedule<Call>; byName: Record<string, Call> } {
  const schedule = new Schedule<Call>();
  const made = calls(...names);
  for (const call of made) schedule.add(call);
  return { schedule, byName: Object.fromEntries(made.map((call) => [call.name, call])) };
}

it('sends everything at once while nothing has happened', () => {
  const { schedule } = scheduled('a', 'b');
  expect(namesOf(schedule.take())).toEqual(['a', 'b']);
  expect(namesOf(schedule.take())).toEqual([]);
});

it('after a death of unknown cause tries one suspect at a time, alone, the last one first', () => {
  const { schedule, byName } = scheduled('a', 'b', 'c');
  schedule.take();
  expect(schedule.died(NONE, true)).toEqual([]);
  schedule.add(new Call('new'));
  expect(namesOf(schedule.take())).toEqual(['c']);
  expect(schedule.onTrial).toBe(byName['c']);
  expect(namesOf(schedule.take())).toEqual([]);
  // Others are not held up for as long as it takes.
  schedule.acquit();
  expect(namesOf(schedule.take())).toEqual(['b', 'new']);
  schedule.delete(byName['b']!);
  expect(namesOf(schedule.take())).toEqual(['a']);
});

it('refuses the one that was alone when the process died of it, and goes on with the others', () => {
  const { schedule } = scheduled('a', 'b');
  schedule.take();
  schedule.died(NONE, true);
  expect(namesOf(schedule.take())).toEqual(['b']);
  expect(namesOf(schedule.died(NONE, true))).toEqual(['b']);
  expect(namesOf(schedule.take())).toEqual(['a']);
});

it('gives one that was alone a second chance where the cause may have been outside', () => {
  const { schedule } = scheduled('a');
  schedule.take();
  expect(schedule.died(NONE, false)).toEqual([]);
  expect(namesOf(schedule.take())).toEqual(['a']);
  expect(namesOf(schedule.died(NONE, false))).toEqual(['a']);
  expect(schedule.isEmpty).toBe(true);
});

it('suspects nobody where the reason is known', () => {
  const { schedule, byName } = scheduled('a', 'b', 'c');
  schedule.take();
  expect(namesOf(schedule.died(new Set([byName['b']!]), true))).toEqual(['b']);
  expect(namesOf(schedule.take())).toEqual(['a', 'c']);
  expect(byName['a']?.deaths).toBe(0);
});

it('refuses one that was there at three deaths', () => {
  const { schedule, byName } = scheduled('a');
  const dieTogether = (): string[] => {
    schedule.take();
    schedule.acquit();
    schedule.add(new Call('other'));
    schedule.take();
    return namesOf(schedule.died(NONE, true));
  };
  expect([dieTogether(), dieTogether(), dieTogether()].slice(0, 2)).toEqual([[], []]);
  expect(byName['a']?.deaths).toBe(3);
});

it('forgets a call that is given up, wherever it is', () => {
  const { schedule, byName } = scheduled('a', 'b');
  schedule.delete(byName['a']!);
  expect(namesOf(schedule.take())).toEqual(['b']);
  schedule.delete(byName['b']!);
  expect(schedule.isEmpty).toBe(true);
});
