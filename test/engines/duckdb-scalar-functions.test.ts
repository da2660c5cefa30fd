/** Our own scalar functions: values that the reference cannot show, what a chunk of rows may take, and the event loop's turns. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BIGINT, DuckDBInstance, DuckDBScalarFunction } from '@duckdb/node-api';
import fc from 'fast-check';
import { registerScalarFunctions } from '../../src/engines/duckdb/scalar-functions/register';
import { runtimeError } from '../../src/engines/duckdb/translate';
import { leastTime } from '../cpu-time';
import type { CallCost, MeasuredCall } from './call-costs';
import { TranslationBench } from './duckdb-translation';
import { runs } from '../scale';

const CHUNK = 2_048;

let bench: TranslationBench;
beforeAll(async () => {
  bench = await TranslationBench.open();
}, 60_000);
afterAll(() => bench.close());

test.each([
  [`TO_HEX(CAST(NORMALIZE('\\ufeff\\ufb01', NFKC) AS BYTES))`, 'efbbbf6669'],
  [`TO_HEX(CAST(NORMALIZE('\\ufb01\\000x', NFKD) AS BYTES))`, '66690078'],
  [`SAFE.NET.IP_FROM_STRING('')`, null],
  [`NET.SAFE_IP_FROM_STRING('')`, null],
  [`CAST(FARM_FINGERPRINT('') AS STRING)`, '-7286425919675154353'],
  [`NET.REG_DOMAIN('')`, null],
])('%s', async (expression, value) => {
  expect(await bench.value(expression)).toBe(value);
});

/** Row by row through the distances of all beginnings. */
function plainDistance(a: readonly string[], b: readonly string[]): number {
  let line = [...a.keys(), a.length];
  b.forEach((character, row) => {
    const next = [row + 1];
    a.forEach((other, i) => {
      next.push(Math.min(line[i]! + Number(other !== character), line[i + 1]! + 1, next[i]! + 1));
    });
    line = next;
  });
  return line.at(-1)!;
}

test('EDIT_DISTANCE counts characters, and bytes of BYTES', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '日', '😀'), maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(text, text, async (a, b) => {
      const [x, y] = [Buffer.from(a), Buffer.from(b)];
      const hex = (bytes: Buffer): string => `FROM_HEX('${bytes.toString('hex')}')`;
      expect(await bench.value(`EDIT_DISTANCE('${a}', '${b}')`)).toBe(plainDistance(Array.from(a), Array.from(b)));
      const latin1 = [x, y].map((bytes) => Array.from(bytes.toString('latin1')));
      expect(await bench.value(`EDIT_DISTANCE(${hex(x)}, ${hex(y)})`)).toBe(plainDistance(latin1[0]!, latin1[1]!));
    }),
    { ...runs(100) },
  );
});

describe('a chunk of rows', () => {
  const MOST_MS = 50;
  const PATIENCE = 2.5;
  const most = 6_000;

  let child: ChildProcess;
  const gone = new AbortController();
  const reply = async (): Promise<unknown> => ((await once(child, 'message', { signal: gone.signal })) as unknown[])[0];
  beforeAll(async () => {
    child = fork(join(__dirname, 'call-costs.js'), { execArgv: [] });
    child.once('exit', () => gone.abort(new Error('The process that measures has ended.')));
    await reply();
  }, 60_000);
  afterAll(() => child.kill());

  const filled = (unit: string, bytes: number): string =>
    `repeat('${unit}', ${Math.floor(bytes / Buffer.byteLength(unit))})`;

  /** Calls at their worst, for a text of so many bytes. */
  const CASES: Readonly<Record<string, (bytes: number) => string>> = {
    lq_farm_fingerprint: (n) => `lq_farm_fingerprint(encode(${filled('a', n)} || i))`,
    'lq_farm_fingerprint of short texts': () => `lq_farm_fingerprint(encode('abcdefghijkl' || i))`,
    lq_latin1: (n) => `lq_latin1(encode(${filled('é', n)} || i))`,
    'lq_latin1_pattern of escapes': (n) => `lq_latin1_pattern(encode(${filled('\\C', n)} || i))`,
    'lq_latin1_pattern of classes': (n) => `lq_latin1_pattern(encode(${filled('[\\n]', n)} || i))`,
    'lq_latin1_pattern of brackets': (n) => `lq_latin1_pattern(encode(${filled('[[:a', n)} || '\' || i))`,
    lq_bytes_of_latin1: (n) => `lq_bytes_of_latin1(encode(${filled('é', n)} || i))`,
    lq_hex_of_latin1_texts: (n) => `lq_hex_of_latin1_texts(encode(${filled('éĀ', n)} || i))`,
    'lq_edit_distance of long texts': (n) =>
      `lq_edit_distance(encode(${filled('é', n)}), encode(${filled('ab', n)} || i))`,
    'lq_edit_distance of short texts': () =>
      `lq_edit_distance(encode(${filled('é日', 150)}), encode(${filled('ab', 100)} || i))`,
    'lq_edit_distance of many letters': () =>
      `lq_edit_distance(encode(array_to_string(list_transform(range(600), lambda j: chr(CAST(19968 + j AS INTEGER))), '')), encode('' || i))`,
    lq_sha512: (n) => `lq_sha512(encode(${filled('a', n)} || i))`,
    'lq_normalized of ASCII': (n) => `lq_normalized(encode(${filled('a', n)}), encode('NFKC'))`,
    'lq_normalized of letters': (n) => `lq_normalized(encode(${filled('é', n)}), encode('NFKD'))`,
    'lq_normalized of ligatures': (n) => `lq_normalized(encode(${filled('ﷺ', n)}), encode('NFKC'))`,
    'lq_normalized of Hangul': (n) => `lq_normalized(encode(${filled('한', n)}), encode('NFD'))`,
    'lq_normalized of marks': (n) => `lq_normalized(encode('a' || ${filled('\u0301\u0316', n)}), encode('NFD'))`,
    'lq_normalized of marks in runs': (n) =>
      `lq_normalized(encode(${filled(`a${'\u0301\u0316'.repeat(15)}`, n)}), encode('NFKC'))`,
    'lq_public_suffix of dots': (n) => `lq_public_suffix(encode('a' || ${filled('.', n)} || 'b'))`,
    'lq_registered_domain of labels': () => `lq_registered_domain(encode(${filled('a.', 990)} || i || '.com'))`,
    'lq_registered_domain of other letters': () =>
      `lq_registered_domain(encode(array_to_string(list_transform(range(900), lambda j: chr(CAST(19968 + j AS INTEGER))), '') || i || '.com'))`,
    lq_ip_from_string: () => `lq_ip_from_string(encode('2001:db8::ff00:42:' || to_hex(i)))`,
    lq_ip_to_string: () => `lq_ip_to_string(unhex(printf('20010db80000000000000000%08x', i)))`,
    lq_ip_net_mask: () => `lq_ip_net_mask(16, i % 128)`,
    lq_ip_trunc: () => `lq_ip_trunc(unhex(printf('20010db80000000000000000%08x', i)), i % 128)`,
    'lq_is_time_zone of names': () => `lq_is_time_zone(encode('America/' || i))`,
    'lq_json_keys of the same': (n) =>
      `lq_json_keys(encode('{' || ${filled('"":1,', n)} || '"b":1}'), 500, encode('lax'))`,
    'lq_json_keys of others': (n) =>
      `lq_json_keys(encode('{' || array_to_string(list_transform(range(${Math.ceil(n / 12)}), lambda j: '"' || (i * 7919 + j) || '":{}'), ',') || '}'), 500, encode('lax'))`,
    'lq_json_keys of levels': (n) =>
      `lq_json_keys(encode(${filled('{"a":', n / 2)} || '1' || ${filled('}', n / 12)}), 500, encode('lax'))`,
    'lq_pretty_json of elements': (n) => `lq_pretty_json(encode('[' || ${filled('1,', n)} || '1]'))`,
    'lq_pretty_json of levels': (n) => `lq_pretty_json(encode(${filled('[', n / 2)} || i || ${filled(']', n / 2)}))`,
    'lq_pretty_json of members': (n) => `lq_pretty_json(encode('{' || ${filled('"":{},', n)} || '"b":1}'))`,
    ...Object.fromEntries(
      [
        ['(a)|a.*b', 'a'],
        ['(a)?b', 'a'],
        ['((a|b|c|d)*)*x', 'abcd'],
        ['(x+x+)+y', 'x'],
        ['(?:a?){50}(b)', 'a'],
        [String.raw`(\pL+)1`, 'é'],
        ['()', 'é'],
        ['([^ ]* ){8}', 'w '],
        [String.raw`(?i)(k\b)`, 'K'],
      ].map(([pattern, unit]) => [
        `lq_regexp_place of ${pattern!}`,
        (n: number) =>
          `lq_regexp_place(encode(${filled(unit!, n)} || i), encode('${pattern!}'), 1::BIGINT, 1000000::BIGINT, 0::BIGINT)`,
      ]),
    ),
    'lq_regexp_place of patterns': () =>
      `lq_regexp_place(encode('a'), encode('(' || i || '[a-z]{9})'), 1::BIGINT, 1::BIGINT, 0::BIGINT)`,
  };

  const costOf = async (call: string, rows = CHUNK): Promise<CallCost> => {
    child.send({ call, rows } satisfies MeasuredCall);
    return (await reply()) as CallCost;
  };

  test.each(Object.entries(CASES))(
    '%s',
    async (_, call) => {
      // The first one is compiled meanwhile.
      await costOf(call(most));
      const bound = MOST_MS * PATIENCE;
      const inCalm = async (): Promise<number> => {
        const costs = [await costOf(call(most)), await costOf(call(10 * most), CHUNK / 8)];
        return Math.max(...costs.map(({ ms, pace }) => ms / pace));
      };
      expect(await leastTime(bound, inCalm)).toBeLessThan(bound);
    },
    300_000,
  );

  const ROWS = `FROM UNNEST(GENERATE_ARRAY(1, ${CHUNK})) AS i`;
  const long = (bytes: number): string => `CONCAT(REPEAT('a', ${bytes}), CAST(i AS STRING))`;

  test.each([
    ['SHA512', `SHA512(${long(16_000)})`],
    ['SHA512', `SAFE.SHA512(${long(16_000)})`],
    ['EDIT_DISTANCE', `EDIT_DISTANCE(CONCAT(${long(250)}, 'é'), ${long(250)})`],
    ['REGEXP_INSTR', `REGEXP_INSTR(${long(4_000)}, '(a)|a.*b', 1, 1000)`],
    ['TO_JSON_STRING', `TO_JSON_STRING(TO_JSON(${long(16_000)}), TRUE)`],
    ['NET.REG_DOMAIN', `NET.REG_DOMAIN(CONCAT('http://', ${long(200)}, REPEAT('.é', 60)))`],
  ])('%s is refused what is too much: %s', async (name, call) => {
    const sql = `SELECT COUNT(${call}) AS n ${ROWS}`;
    const error = runtimeError(await bench.run(sql).catch((reason: unknown) => reason));
    expect(error).toMatchObject({ fault: 'resourcesExceeded', message: `${name} is given too much at once` });
    expect(sql.slice(error!.span!.start, error!.span!.end)).toBe(call);
  });

  test.each([
    `SHA512(${long(4_080)})`,
    `FARM_FINGERPRINT(${long(4_080)})`,
    `EDIT_DISTANCE(CONCAT(${long(100)}, 'é'), ${long(100)})`,
    `LENGTH(REPLACE(CAST(${long(900)} AS BYTES), b'a', b'b'))`,
    `NET.IP_FROM_STRING('2001:db8::1')`,
    `REGEXP_INSTR(CONCAT(REPEAT('x', 200), ' status=', CAST(i AS STRING)), r'status=(\\d+)', 1, 2)`,
    `REGEXP_INSTR(CONCAT(REPEAT('x', 4000), ' status=', CAST(i AS STRING)), r'status=(\\d+)')`,
    `TO_JSON_STRING(STRUCT(i, [i, i] AS a), TRUE)`,
  ])('ordinary rows are not refused: %s', async (call) => {
    const { rows } = await bench.run(`SELECT COUNT(${call}) AS n ${ROWS}`);
    expect(rows).toEqual([{ n: CHUNK }]);
  });
});

test('the event loop goes round between two calls of a thread', async () => {
  const THREADS = 2;
  const instance = await DuckDBInstance.create(':memory:', { threads: String(THREADS) });
  const connection = await instance.connect();
  registerScalarFunctions(connection);
  let [calls, most] = [0, 0];
  connection.registerScalarFunction(
    DuckDBScalarFunction.create({
      name: 'slow',
      parameterTypes: [BIGINT],
      returnType: BIGINT,
      mainFunction: (_info, input, output) => {
        most = Math.max(most, ++calls);
        const numbers = input.getColumnVector(0);
        for (let row = 0; row < input.rowCount; row++) output.setItem(row, numbers.getItem(row));
        output.flush();
      },
    }),
  );
  await connection.run(`CREATE TABLE numbers AS SELECT i FROM range(${200 * CHUNK}) AS t(i)`);
  const mostInOneIteration = async (expression: string): Promise<number> => {
    most = 0;
    let ended = false;
    const iteration = (): void => {
      calls = 0;
      if (!ended) setImmediate(iteration);
    };
    iteration();
    await connection.run(`SELECT sum(${expression}) FROM numbers`);
    ended = true;
    return most;
  };
  expect(await mostInOneIteration('slow(i)')).toBeGreaterThan(THREADS + 1);
  expect(await mostInOneIteration('CASE WHEN lq_yield() THEN NULL ELSE slow(i) END')).toBeLessThanOrEqual(THREADS + 1);
  connection.closeSync();
  instance.closeSync();
});
