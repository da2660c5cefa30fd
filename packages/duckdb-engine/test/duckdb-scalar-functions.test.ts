/** Our own scalar functions: values that the reference cannot show, what a chunk of rows may take, and the event loop's turns. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BIGINT, DuckDBInstance, DuckDBScalarFunction } from '@duckdb/node-api';
import fc from 'fast-check';
import { registerScalarFunctions } from '../src/scalar-functions/register';
import { runtimeError } from '../src/translate';
import { leastTime } from '../../../test/cpu-time';
import type { CallCost, MeasuredCall } from './call-costs';
import { TranslationBench } from './duckdb-translation';
import { runs, oneOf } from '../../../test/scale';
import { opened } from '../../../test/opened';

const CHUNK = 2_048;

const bench = opened(() => TranslationBench.open());

test.each([
  [`TO_HEX(CAST(NORMALIZE('\\ufeff\\ufb01', NFKC) AS BYTES))`, 'efbbbf6669'],
  [`TO_HEX(CAST(NORMALIZE('\\ufb01\\000x', NFKD) AS BYTES))`, '66690078'],
  [`SAFE.NET.IP_FROM_STRING('')`, null],
  [`NET.SAFE_IP_FROM_STRING('')`, null],
  [`CAST(FARM_FINGERPRINT('') AS STRING)`, '-7286425919675154353'],
  [`NET.REG_DOMAIN('')`, null],
])('%s', async (expression, value) => {
  expect(await bench().value(expression)).toBe(value);
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
      expect(await bench().value(`EDIT_DISTANCE('${a}', '${b}')`)).toBe(plainDistance(Array.from(a), Array.from(b)));
      const latin1 = [x, y].map((bytes) => Array.from(bytes.toString('latin1')));
      expect(await bench().value(`EDIT_DISTANCE(${hex(x)}, ${hex(y)})`)).toBe(plainDistance(latin1[0]!, latin1[1]!));
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

  /** Calls at their worst; `«unit»` is repeated to so many bytes, `«unit/12»` to a twelfth of them. */
  const CASES = [
    'lq_farm_fingerprint(encode(«a» || i))',
    "lq_farm_fingerprint(encode('abcdefghijkl' || i))",
    'lq_latin1(encode(«é» || i))',
    'lq_latin1_pattern(encode(«\\C» || i))',
    'lq_latin1_pattern(encode(«[\\n]» || i))',
    "lq_latin1_pattern(encode(«[[:a» || '\' || i))",
    'lq_bytes_of_latin1(encode(«é» || i))',
    'lq_hex_of_latin1_texts(encode(«éĀ» || i))',
    'lq_edit_distance(encode(«é»), encode(«ab» || i))',
    "lq_edit_distance(encode(repeat('é日', 30)), encode(repeat('ab', 50) || i))",
    "lq_edit_distance(encode(array_to_string(list_transform(range(600), lambda j: chr(CAST(19968 + j AS INTEGER))), '')), encode('' || i))",
    'lq_sha512(encode(«a» || i))',
    "lq_normalized(encode(«a»), encode('NFKC'))",
    "lq_normalized(encode(«é»), encode('NFKD'))",
    "lq_normalized(encode(«ﷺ»), encode('NFKC'))",
    "lq_normalized(encode(«한»), encode('NFD'))",
    "lq_normalized(encode('a' || «\u0301\u0316»), encode('NFD'))",
    `lq_normalized(encode(«a${'\u0301\u0316'.repeat(15)}»), encode('NFKC'))`,
    "lq_public_suffix(encode('a' || «.» || 'b'))",
    "lq_registered_domain(encode(repeat('a.', 495) || i || '.com'))",
    "lq_registered_domain(encode(array_to_string(list_transform(range(900), lambda j: chr(CAST(19968 + j AS INTEGER))), '') || i || '.com'))",
    "lq_ip_from_string(encode('2001:db8::ff00:42:' || to_hex(i)))",
    "lq_ip_to_string(unhex(printf('20010db80000000000000000%08x', i)))",
    'lq_ip_net_mask(16, i % 128)',
    "lq_ip_trunc(unhex(printf('20010db80000000000000000%08x', i)), i % 128)",
    "lq_is_time_zone(encode('America/' || i))",
    `lq_json_keys(encode('{' || «"":1,» || '"b":1}'), 500, encode('lax'))`,
    `lq_json_keys(encode('{' || array_to_string(list_transform(range(¤), lambda j: '"' || (i * 7919 + j) || '":{}'), ',') || '}'), 500, encode('lax'))`,
    `lq_json_keys(encode(«{"a":/2» || '1' || «}/12»), 500, encode('lax'))`,
    "lq_pretty_json(encode('[' || «1,» || '1]'))",
    'lq_pretty_json(encode(«[/2» || i || «]/2»))',
    `lq_pretty_json(encode('{' || «"":{},» || '"b":1}'))`,
    ...[
      '(a)|a.*b«a»',
      '(a)?b«a»',
      '((a|b|c|d)*)*x«abcd»',
      '(x+x+)+y«x»',
      '(?:a?){50}(b)«a»',
      String.raw`(\pL+)1«é»`,
      '()«é»',
      '([^ ]* ){8}«w »',
      String.raw`(?i)(k\b)«K»`,
    ].map(
      (one) =>
        `lq_regexp_place(encode(${one.slice(one.indexOf('«'))} || i), encode('${one.slice(0, one.indexOf('«'))}'), 1::BIGINT, 1000000::BIGINT, 0::BIGINT)`,
    ),
    "lq_regexp_place(encode('a'), encode('(' || i || '[a-z]{9})'), 1::BIGINT, 1::BIGINT, 0::BIGINT)",
  ];
  const filled = (call: string, bytes: number): string =>
    call
      .replace(/«(.*?)(?:\/(\d+))?»/g, (_, unit: string, part = 1) => {
        return `repeat('${unit}', ${Math.floor(bytes / Number(part) / Buffer.byteLength(unit))})`;
      })
      .replace('¤', String(Math.ceil(bytes / 12)));

  const costOf = async (call: string, rows = CHUNK): Promise<CallCost> => {
    child.send({ call, rows } satisfies MeasuredCall);
    return (await reply()) as CallCost;
  };

  test.each(oneOf(4, CASES))(
    '%s',
    async (call) => {
      // The first one is compiled meanwhile.
      await costOf(filled(call, most));
      const bound = MOST_MS * PATIENCE;
      const inCalm = async (): Promise<number> => {
        const costs = [await costOf(filled(call, most)), await costOf(filled(call, 10 * most), CHUNK / 8)];
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
    const error = runtimeError(
      await bench()
        .run(sql)
        .catch((reason: unknown) => reason),
    );
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
    const { rows } = await bench().run(`SELECT COUNT(${call}) AS n ${ROWS}`);
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
