/** Every scalar function and operator of the embedded engine, and casts, on the edges of their types, on both engines. */
import { supportedFunctions } from '../../src/engines/duckdb/translate';
import { findFunction } from '../../src/googlesql/functions/catalogue';
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { KNOWN_DIFFERENCES } from './known-differences';
import { Random } from './random';
import { randomCall, randomCast, selectOf, type ScalarCall } from './scalar-calls';
import { ask, compared, TwoEngines } from './two-engines';

const SEED = 20261121;
const OF_EACH = 4;
const CASTS = 200;
/** Calls in one SELECT. */
const BATCH = 8;
/** A call that the engine says it does not support is no wrong answer, as long as there are few. */
const REFUSED = 0.15;

/** Nobody knows the answer beforehand, or they are written in a form of their own and tested as such. */
const LEFT_OUT = new Set(['ERROR', 'SESSION_USER', '$extract']);

const NAMES = supportedFunctions().scalar.filter((name) => {
  const fn = findFunction(name);
  return fn !== undefined && fn.volatile !== true && !LEFT_OUT.has(name);
});

overLocalBigQuery('scalar functions', (local) => {
  let engines: TwoEngines;
  let called = 0;
  let refused = 0;
  beforeAll(async () => {
    engines = await TwoEngines.open(local().host);
  }, 60_000);
  afterAll(() => engines.close());

  /** Asks for all at once, and for halves where one of them is an error. */
  async function differences(calls: readonly ScalarCall[]): Promise<string[]> {
    const sql = selectOf(calls);
    const [ours, theirs] = await Promise.all([ask(engines.embedded, sql), ask(engines.reference, sql)]);
    const difference = compared(ours, theirs, 'ordered');
    if (calls.length === 1) {
      if ('error' in ours && /not supported on the embedded engine/.test(ours.error)) refused++;
      else if (difference !== null && !isKnown(sql, difference)) return [`${sql}\n=> ${difference}`];
      return [];
    }
    if (difference === null && !('error' in ours)) return [];
    const middle = calls.length >> 1;
    return [...(await differences(calls.slice(0, middle))), ...(await differences(calls.slice(middle)))];
  }

  async function inBatches(calls: readonly ScalarCall[]): Promise<void> {
    const found: string[] = [];
    for (let i = 0; i < calls.length; i += BATCH) found.push(...(await differences(calls.slice(i, i + BATCH))));
    called += calls.length;
    expect(found).toEqual([]);
  }

  const initials = [...new Set(NAMES.map((name) => name[0]!))];
  test.each(initials)(
    'that start with %s give what the reference engine gives',
    async (initial) => {
      const random = new Random(SEED);
      const names = NAMES.filter((name) => name.startsWith(initial));
      const calls = names.flatMap((name) => Array.from({ length: OF_EACH }, () => randomCall(name, random)));
      await inBatches(calls.filter((call) => call !== null));
    },
    120_000,
  );

  test('casts give what the reference engine gives', async () => {
    const random = new Random(SEED);
    await inBatches(Array.from({ length: CASTS }, () => randomCast(random)));
  }, 120_000);

  test('are rarely refused', () => {
    expect(refused).toBeLessThan(REFUSED * called);
  });
});

function isKnown(sql: string, difference: string): boolean {
  return KNOWN_DIFFERENCES.some((known) => known.sql.test(sql) && (known.difference?.test(difference) ?? true));
}
