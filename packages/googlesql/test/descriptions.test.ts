/** Which columns of a query the descriptions of a table's columns are said of. */
import { describeColumns, describing, readDescriptions, resultColumns } from '../src/descriptions';
import { parseQuery } from '../src/parser';
import { resolveQuery } from '../src/resolver';
import { columnsOf, parseRestSchema } from '../src/rest-schema';

const FIELDS = [
  { name: 'id', type: 'STRING', description: 'Its own.' },
  { name: 'plain', type: 'INTEGER' },
  {
    name: 'meta',
    type: 'RECORD',
    mode: 'REPEATED',
    description: 'Around it.',
    fields: [
      { name: 'level', type: 'STRING', description: 'How grave.' },
      { name: 'parts', type: 'RECORD', fields: [{ name: 'path', type: 'STRING', description: 'Where.' }] },
    ],
  },
];
const TABLE = { name: 't', columns: columnsOf(parseRestSchema(FIELDS, 't')) };

it.each([
  ['SELECT id, plain, meta FROM t', { id: 'Its own.', meta: 'Around it.', level: 'How grave.', path: 'Where.' }],
  ['SELECT id AS other, CONCAT(id, id) AS twice FROM t', { other: 'Its own.' }],
  ['WITH a AS (SELECT id AS i FROM t), b AS (SELECT * FROM a) SELECT i AS j FROM b', { j: 'Its own.' }],
  ['SELECT m.level, m.parts.path AS p FROM t, UNNEST(meta) AS m', { level: 'How grave.', p: 'Where.' }],
  ['SELECT level, COUNT(*) AS n FROM t, UNNEST(meta) GROUP BY level', { level: 'How grave.' }],
  ['SELECT AS STRUCT m.* FROM t, UNNEST(meta) AS m', { level: 'How grave.', path: 'Where.' }],
  ['SELECT id FROM t UNION ALL SELECT id FROM t', {}],
])('%s', (sql, said) => {
  const query = resolveQuery(parseQuery(sql), sql, {
    findTable: ([first]) => (first?.name === 't' ? TABLE : undefined),
    parameters: new Map(),
  });
  const descriptions = describing(query, new Map([['t', readDescriptions(FIELDS)]]))(query);
  type Described = ReturnType<typeof describeColumns>;
  const found = (columns: Described): [string, string][] =>
    columns.flatMap(({ name, description, fields }) => [
      ...(description === undefined ? [] : [[name, description] as [string, string]]),
      ...found(fields ?? []),
    ]);
  expect(Object.fromEntries(found(describeColumns(resultColumns(query), descriptions)))).toEqual(said);
});

it.each([[undefined], [null], ['x'], [[null, 1, { description: 5 }, { description: '' }]]])(
  'says nothing where %j is no list of fields with descriptions',
  (fields) => {
    expect(readDescriptions(fields).filter(({ text }) => text !== null)).toEqual([]);
  },
);
