/** What is found out about rows of tables that nobody has declared, or declared in part. */
import { unlimited } from '../../src/concurrency/deadline';
import type { TimeUnit } from '@logquay/googlesql/types';
import type { Engine } from '../../src/contract/contract';
import { DataFolder, FORMS, ndjson, rowsOf } from '../data-folder';
import { eventually } from './eventually';

jest.setTimeout(120_000);

let folder: DataFolder;
afterEach(() => folder.remove());

const schemaOf = async (engine: Engine, table: string) =>
  (await engine.tables([[table]], unlimited())).schemas.get(table);

describe.each(FORMS)('Numbers that are times, in %s', (_form, options) => {
  const NOW = 1_790_000_000;
  const PER_SECOND: readonly (readonly [TimeUnit, bigint])[] = [
    ['s', 1n],
    ['ms', 1_000n],
    ['us', 1_000_000n],
    ['ns', 1_000_000_000n],
  ];
  const lines = (name: string, per: bigint): string =>
    Array.from({ length: 150 }, (_, i) => `{"n":${i},"${name}":${BigInt(NOW + ((i * 7) % 150)) * per}}\n`).join('');

  it('are known in each unit, for good, and order the rows that are stored', async () => {
    const files = PER_SECOND.map(([unit, per]) => [`${unit}.ndjson`, lines('time', per)] as const);
    const declared = {
      d: {
        fields: [
          { name: 'ts', type: 'FLOAT' },
          { name: 'n', type: 'INTEGER' },
        ],
      },
    };
    folder = await DataFolder.make({
      ...Object.fromEntries(files),
      'd.ndjson': lines('ts', 1_000n),
      // Not all of the first are times, nor is what has another name.
      'odd.ndjson': ndjson({ time: NOW, other: NOW }, { time: 5 }),
      'schema.json': JSON.stringify(declared),
    });
    let engine = await folder.open(options);
    const check = async (): Promise<void> => {
      for (const [unit] of PER_SECOND)
        expect((await schemaOf(engine, unit))?.timeUnits).toEqual(new Map([['time', unit]]));
      expect((await schemaOf(engine, 'd'))?.timeUnits).toEqual(new Map([['ts', 'ms']]));
      expect((await schemaOf(engine, 'odd'))?.timeUnits).toBeUndefined();
      const [newest] = await rowsOf(engine, 'SELECT n FROM ms ORDER BY time DESC LIMIT 1');
      expect(newest).toEqual({ n: 107 });
    };
    await check();
    // What comes later changes no unit.
    await folder.append({ 's.ndjson': ndjson({ n: 1_000, time: 5 }) });
    await eventually(async () => expect(await rowsOf(engine, 'SELECT n FROM s WHERE n = 1000')).toHaveLength(1));
    await check();
    await engine.close();
    engine = await folder.open(options);
    await check();
    if ('smallFile' in options) {
      // Rows lie in the order of their time, the last first.
      const stored = await rowsOf(engine, 'SELECT n FROM ns');
      expect(stored[0]).toEqual({ n: 107 });
    }
  });
});
