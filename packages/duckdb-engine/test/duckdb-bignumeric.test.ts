/** Columns of tables that are BIGNUMERIC, alone, in lists and in records. */
import { DataFolder, ndjson, rowsOf } from './data-folder';
import { schemaOf } from './fields';

jest.setTimeout(120_000);

const SCHEMA = schemaOf({
  raw_x:
    'timestamp TIMESTAMP!, x BIGNUMERIC, list BIGNUMERIC*, record RECORD(y BIGNUMERIC), records RECORD*(z BIGNUMERIC)',
});
const ROWS = ndjson(
  ...[
    { x: '1.5', list: ['2', 0.25], record: { y: '12345678901234567890.123456789012345678' }, records: [{ z: 1 }] },
    { x: -7, list: [], record: {}, records: [] },
    { x: null, record: null, records: [{ z: '3.10' }, { z: null }] },
  ].map((row, i) => ({ timestamp: `2026-09-30T11:00:0${i}Z`, ...row })),
);

test('a column is read as the numbers that it holds', async () => {
  const folder = await DataFolder.make({ 'schema.json': SCHEMA, 'raw_x.ndjson': ROWS });
  try {
    const engine = await folder.open();
    const rows = (sql: string): Promise<unknown[]> => rowsOf(engine, sql);
    expect(await rows('SELECT x, list, record, records FROM raw_x ORDER BY timestamp')).toEqual([
      {
        x: '1.5',
        list: ['2', '0.25'],
        record: { y: '12345678901234567890.123456789012345678' },
        records: [{ z: '1' }],
      },
      { x: '-7', list: [], record: { y: null }, records: [] },
      { x: null, list: [], record: null, records: [{ z: '3.1' }, { z: null }] },
    ]);
    expect(await rows('SELECT MIN(z) AS s, MIN(t.x) AS m FROM raw_x AS t, UNNEST(records)')).toEqual([
      { s: '1', m: '1.5' },
    ]);
    expect(await rows('SELECT CAST(record.y AS STRING) AS y FROM raw_x WHERE record.y > 1')).toEqual([
      { y: '12345678901234567890.123456789012345678' },
    ]);
    await engine.close();
  } finally {
    await folder.remove();
  }
});
