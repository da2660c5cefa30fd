import assert from 'node:assert/strict';
import { Harness, rowsOf, test } from './harness';

const local = new Harness();
const DATASETS = '/projects/test/datasets';

async function makeTable(dataset: string, fields: readonly object[]): Promise<string> {
  await local.send('POST', DATASETS, { datasetReference: { projectId: 'test', datasetId: dataset } });
  const body = { tableReference: { projectId: 'test', datasetId: dataset, tableId: 't' }, schema: { fields } };
  assert.equal((await local.send('POST', `${DATASETS}/${dataset}/tables`, body)).status, 200);
  return `${DATASETS}/${dataset}/tables/t`;
}

test('data sets: made once, listed, got, kept while they hold tables', async () => {
  const make = () => local.send('POST', DATASETS, { datasetReference: { datasetId: 'made' }, location: 'EU' });
  assert.equal((await make()).json['id'], 'test:made');
  assert.equal((await make()).status, 409);
  assert.equal((await local.send('GET', `/bigquery/v2${DATASETS}/made`)).json['location'], 'EU');
  const names = (await local.send('GET', DATASETS)).json['datasets'] as unknown as { id: string }[];
  assert.deepEqual(names.map(({ id }) => id).sort(), ['test:logs', 'test:made']);
  await makeTable('made', [{ name: 'x', type: 'INTEGER' }]);
  assert.equal((await local.send('DELETE', `${DATASETS}/made`)).status, 400);
  assert.equal((await local.send('DELETE', `${DATASETS}/made?deleteContents=true`)).status, 204);
  assert.equal((await local.send('GET', `${DATASETS}/made`)).status, 404);
});

test('tables: listed, got with schema and counts, refused with a bad schema', async () => {
  const tables = await local.send('GET', `${DATASETS}/logs/tables`);
  assert.equal(tables.json['totalItems'], 9);
  const table = (await local.send('GET', `${DATASETS}/logs/tables/raw_edge_logs`)).json;
  assert.deepEqual(
    [table['numRows'], table['type'], table['schema']?.['fields']?.[0]?.['mode']],
    ['118', 'TABLE', 'REQUIRED'],
  );
  for (const fields of [
    [{ name: 'x', type: 'NOPE' }],
    [{ name: 'x', type: 'RECORD' }],
    [
      { name: 'x', type: 'STRING' },
      { name: 'X', type: 'STRING' },
    ],
  ]) {
    const body = { tableReference: { tableId: 'bad' }, schema: { fields } };
    assert.equal((await local.send('POST', `${DATASETS}/logs/tables`, body)).status, 400);
  }
});

test('rows go in by insertAll and come out of queries and tabledata.list', async () => {
  const url = await makeTable('inserted', [
    { name: 'ts', type: 'TIMESTAMP', mode: 'REQUIRED' },
    { name: 'n', type: 'INTEGER' },
    { name: 'tags', type: 'STRING', mode: 'REPEATED' },
    {
      name: 'r',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [
        { name: 'd', type: 'DATE' },
        { name: 'j', type: 'JSON' },
      ],
    },
  ]);
  const good = [
    {
      json: {
        ts: '2026-01-01T00:00:00.5Z',
        n: '9007199254740993',
        tags: ['a', 'b'],
        r: [{ d: '2026-01-02', j: '{"x":1}' }],
      },
    },
    { json: { ts: 1767225600, N: 5 } },
    { json: { ts: '2026-01-01 02:00:00+02:00', tags: null, r: null } },
  ];
  assert.equal((await local.send('POST', `${url}/insertAll`, { rows: good })).json['insertErrors'], undefined);
  const sql = 'SELECT UNIX_MICROS(ts), n, ARRAY_TO_STRING(tags, "+"), r[SAFE_OFFSET(0)].j.x FROM inserted.t ORDER BY n';
  assert.deepEqual(await local.rows(sql), [
    ['1767225600000000', null, '', null],
    ['1767225600000000', '5', '', null],
    ['1767225600500000', '9007199254740993', 'a+b', '1'],
  ]);
  const page = (await local.send('GET', `${url}/data?maxResults=2&formatOptions.useInt64Timestamp=true`)).json;
  assert.deepEqual(rowsOf(page)[0]?.slice(0, 2), ['1767225600500000', '9007199254740993']);
  const rest = (await local.send('GET', `${url}/data?pageToken=${String(page['pageToken'])}`)).json;
  assert.deepEqual([rowsOf(rest).length, rest['pageToken']], [1, undefined]);
});

test('a row that does not fit keeps the others out, unless it is to be skipped', async () => {
  const url = await makeTable('strict', [
    { name: 'n', type: 'INTEGER', mode: 'REQUIRED' },
    { name: 'r', type: 'RECORD', fields: [{ name: 'x', type: 'BOOLEAN' }] },
  ]);
  const rows = [
    { json: { n: 1 } },
    { json: { n: 1, nope: 1 } },
    { json: { n: 'x' } },
    { json: { r: {} } },
    { json: { n: 2, r: { y: true } } },
  ];
  const answer = await local.send('POST', `${url}/insertAll`, { rows });
  assert.equal(answer.status, 200);
  const errors = answer.json['insertErrors'] as unknown as {
    index: number;
    errors: { reason: string; location: string }[];
  }[];
  assert.deepEqual(
    errors.map(({ index, errors: [first] }) => [index, first?.reason, first?.location]),
    [
      [1, 'invalid', 'nope'],
      [2, 'invalid', 'n'],
      [3, 'invalid', 'n'],
      [4, 'invalid', 'r.y'],
      [0, 'stopped', ''],
    ],
  );
  assert.deepEqual(await local.rows('SELECT COUNT(*) FROM strict.t'), [['0']]);
  await local.send('POST', `${url}/insertAll`, { rows, skipInvalidRows: true });
  await local.send('POST', `${url}/insertAll`, { rows: [{ json: { n: 3, nope: 1 } }], ignoreUnknownValues: true });
  assert.deepEqual(await local.rows('SELECT n FROM strict.t ORDER BY n'), [['1'], ['3']]);
});

test('queries running while rows come in see one state each', async () => {
  const url = await makeTable('busy', [{ name: 'n', type: 'INTEGER' }]);
  const insert = (n: number) => local.send('POST', `${url}/insertAll`, { rows: [{ json: { n } }] });
  const counts: number[] = [];
  for (let i = 0; i < 5; i++) {
    const [rows] = await Promise.all([local.rows('SELECT COUNT(*) FROM busy.t'), insert(i), local.rows('SELECT 1')]);
    counts.push(Number(rows[0]?.[0]));
  }
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => a - b),
  );
  assert.deepEqual(await local.rows('SELECT COUNT(*) FROM busy.t'), [['5']]);
});

test('a wildcard is the tables that begin like that, with the columns of the newest', async () => {
  await makeTable('shards', [{ name: 'other', type: 'INTEGER' }]);
  const make = async (id: string, fields: readonly string[], rows: readonly object[]): Promise<void> => {
    const schema = {
      fields: fields.map((name) => ({ name, type: 'INTEGER', mode: name === 'tags' ? 'REPEATED' : 'NULLABLE' })),
    };
    await local.send('POST', `${DATASETS}/shards/tables`, { tableReference: { tableId: id }, schema });
    const body = { rows: rows.map((json) => ({ json })) };
    assert.equal((await local.send('POST', `${DATASETS}/shards/tables/${id}/insertAll`, body)).status, 200);
  };
  await make('e_20260917', ['n', 'gone'], [{ n: 1, gone: 1 }]);
  await make('e_20260918', ['tags', 'n'], [{ n: 2, tags: [7] }]);
  const from = '`test.shards.e_*`';
  assert.deepEqual(await local.rows(`SELECT n, ARRAY_LENGTH(tags), _TABLE_SUFFIX FROM ${from} ORDER BY n`), [
    ['1', '0', '20260917'],
    ['2', '1', '20260918'],
  ]);
  const suffix = (sql: string): Promise<unknown> => local.rows(`${sql} WHERE _table_suffix = '20260918'`);
  assert.deepEqual(await suffix('SELECT n FROM shards.`e_2026*` AS e'), []);
  assert.deepEqual(await suffix('SELECT AS STRUCT * FROM shards.`e_*`'), await suffix(`SELECT * FROM ${from}`));
  assert.deepEqual(await local.rows(`FROM ${from} |> WHERE _TABLE_SUFFIX LIKE '%7' |> SELECT n`), [['1']]);
  assert.equal((await local.query('SELECT 1 FROM shards.`x*`')).status, 404);
  assert.equal((await local.query(`SELECT gone FROM ${from}`)).status, 400);
  assert.equal((await local.query(`WITH e AS (SELECT * FROM ${from}) SELECT _TABLE_SUFFIX FROM e`)).status, 400);
  await make('e_20260919', ['n'], [{ n: 3 }]);
  await local.send('DELETE', `${DATASETS}/shards/tables/e_20260918`);
  assert.deepEqual(await local.rows(`SELECT * FROM ${from} ORDER BY n`), [['1'], ['3']]);
});
