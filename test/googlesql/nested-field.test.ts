import { nestedField } from '../../src/googlesql/resolver/nested-field';
import type { SqlType } from '../../src/googlesql/types';

const STRING: SqlType = { kind: 'STRING' };
const record = (fields: Readonly<Record<string, SqlType>>): SqlType => ({
  kind: 'STRUCT',
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
});
const list = (element: SqlType): SqlType => ({ kind: 'ARRAY', element });

const COLUMNS = [
  { name: 'id', type: STRING },
  {
    name: 'metadata',
    type: list(
      record({
        request: list(record({ method: STRING, cf: list(record({ country: STRING })) })),
        response: list(record({ status_code: { kind: 'INT64' } })),
        plain: record({ state: STRING }),
      }),
    ),
  },
];

it.each([
  [
    'status_code',
    true,
    'status_code is in metadata.response: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r and write r.status_code.',
  ],
  ['status', false, 'status_code is in metadata.response: '],
  ['METHOD', true, 'method is in metadata.request: '],
  ['contry', false, 'AS r CROSS JOIN UNNEST(r.cf) AS c and write c.country.'],
  ['state', true, 'state is in metadata.plain: add CROSS JOIN UNNEST(metadata) AS m and write m.plain.state.'],
])('%s', (name, exact, hint) => {
  const found = nestedField(name, COLUMNS);
  expect(found?.exact).toBe(exact);
  expect(found?.hint).toContain(hint);
});

it('says nothing of what is nowhere', () => {
  expect(nestedField('quantity', COLUMNS)).toBeUndefined();
  expect(nestedField('id', [{ name: 'id', type: STRING }])).toBeUndefined();
});

it('writes the alias of a table before its column', () => {
  expect(nestedField('status', COLUMNS, 't.')?.hint).toContain('CROSS JOIN UNNEST(t.metadata) AS m ');
});
