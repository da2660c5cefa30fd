/** Roles of tables as loggers write them, from the file to the answer, on the embedded engine. */
import { DataFolder, ndjson } from '../../packages/duckdb-engine/test/data-folder';
import { QueryFolder, storedQuery } from '../endpoints/folder';
import { Consumer, FIXTURE_END } from '../sandbox/consumer';

const SECOND = 1_000_000n;
/** Rows that are a second apart, the last of them at the clock of the test. */
const COUNT = 120;
const at = (i: number): bigint => FIXTURE_END - BigInt(i) * SECOND;
const rows = (row: (i: number, micros: bigint) => object): string =>
  ndjson(...Array.from({ length: COUNT }, (_, i) => row(i, at(i))));

const FILES = {
  'pino.ndjson': rows((i, micros) => ({ level: [20, 30, 50][i % 3], time: Number(micros / 1000n), msg: `m ${i}` })),
  'zap.ndjson': rows((i, micros) => ({
    level: ['debug', 'info', 'error'][i % 3],
    ts: Number(micros) / 1e6,
    msg: `m ${i}`,
  })),
  'ga.ndjson': rows((i, micros) => ({
    event_timestamp: Number(micros),
    severity_number: [5, 9, 17][i % 3],
    event_name: `m ${i}`,
  })),
  'trail.ndjson': rows((i, micros) => ({
    eventTime: new Date(Number(micros / 1000n)).toISOString(),
    PRIORITY: [7, 6, 3][i % 3],
    eventName: `m ${i}`,
  })),
};
const TABLES = { pino: 'level', zap: 'level', ga: 'severity_number', trail: 'PRIORITY' };

let folder: DataFolder;
let queries: QueryFolder;
let consumer: Consumer;

beforeAll(async () => {
  folder = await DataFolder.make(FILES);
  const ctes = Object.keys(TABLES).map((name) => `${name}_t AS (SELECT *, "x" AS more FROM ${name})`);
  const moved =
    'moved AS (SELECT time * 2 AS time, msg FROM pino), named AS (SELECT time AS happened, level FROM pino)';
  const sql = `WITH ${ctes.join(', ')}, ${moved} SELECT * FROM pino_t`;
  const log = 'sandbox: true\nmax_rows: 10000\nlog:\n  time: { column: happened, unit: ms }';
  queries = await QueryFolder.create({ 'own.sql': storedQuery(1, 'own', log, sql) });
  consumer = await Consumer.over(await folder.open({ declared: new Map() }), { queries: queries.path });
}, 120_000);

afterAll(async () => {
  await consumer.gate.close();
  await folder.remove();
  await queries.remove();
});

const ask = async (text: string): Promise<readonly Record<string, unknown>[]> => {
  const { rows: found } = await consumer.ask({ language: 'lql', text }, {}, 'own');
  return found.map((row) => JSON.parse(row) as Record<string, unknown>);
};

it.each(Object.entries(TABLES))('%s: windows, order, words, levels and buckets', async (name, severity) => {
  const from = `f:${name}_t`;
  const message = name === 'ga' ? 'event_name' : name === 'trail' ? 'eventName' : 'msg';
  const texts = async (lql: string): Promise<unknown[]> =>
    (await ask(`${from} s:${message} ${lql}`)).map((row) => row[message]);
  const all = Array.from({ length: COUNT }, (_, i) => `m ${i}`);
  expect(await texts('')).toEqual(all);
  const unix = (i: number): string => String(at(i) / 1000n);
  expect(await texts(`t:>=${unix(10)}`)).toEqual(all.slice(0, 11));
  expect(await texts(`t:${unix(20)}..${unix(10)}`)).toEqual(all.slice(10, 21));
  expect(await texts('t:>now')).toEqual([]);
  expect(await texts('"m 7"')).toEqual(all.filter((text) => text.includes('m 7')));
  expect(await texts(`${severity}:error..emergency`)).toEqual(all.filter((_, i) => i % 3 === 2));
  expect(await texts(`-${severity}:debug..info`)).toEqual(all.filter((_, i) => i % 3 === 2));
  const charted = await ask(`${from} c:count(*) c:group_by(t::s) t:>=${unix(4)}`);
  expect(charted).toEqual([4, 3, 2, 1, 0].map((i) => ({ timestamp: Number(at(i)), count: 1 })));
});

it('a number is a time where the table says so and hands it on, or the settings do', async () => {
  expect(await ask('f:named c:count(*) c:group_by(t::day)')).toEqual([expect.objectContaining({ count: COUNT })]);
  await expect(ask('f:moved t:today')).rejects.toMatchObject({ details: { code: 'no_time' } });
  expect(await ask('f:moved "m 7" s:msg')).toHaveLength(11);
  await expect(ask('f:moved mesg:x')).rejects.toMatchObject({
    reason: 'unknownField',
    details: { hint: expect.stringContaining('msg') },
  });
});
