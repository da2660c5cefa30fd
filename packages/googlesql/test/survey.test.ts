import { parseQuery } from '../src/parser';
import { surveyMeaning } from '../src/resolver';
import type { TableSchema } from '../src/types';

const EVENTS: TableSchema = {
  name: 'events',
  columns: [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'at', type: { kind: 'TIMESTAMP' } },
    { name: 'size', type: { kind: 'INT64' } },
    {
      name: 'items',
      type: { kind: 'ARRAY', element: { kind: 'STRUCT', fields: [{ name: 'sku', type: { kind: 'STRING' } }] } },
    },
  ],
};

function survey(sql: string) {
  const { faults, resolved } = surveyMeaning(parseQuery(sql), sql, {
    findTable: ([first, ...rest]) => (rest.length === 0 && first?.name === 'events' ? EVENTS : undefined),
    parameters: new Map(),
  });
  return {
    faults: faults.map(({ span }) => sql.slice(span?.start, span?.end)),
    columns: resolved?.output.map(({ name }) => name),
  };
}

describe('a survey of a query finds', () => {
  test.each([
    ['nothing in a sound query', 'select id from events', []],
    ['two unknown columns', 'select idd, att from events', ['idd', 'att']],
    [
      'one in each clause',
      'select idd from events where sze > 1 group by gd order by ord',
      ['idd', 'sze', 'gd', 'ord'],
    ],
    [
      'one in each CTE',
      'with a as (select idd from events), b as (select att from events) select * from a, b',
      ['idd', 'att'],
    ],
    [
      'an operand of a wrong type, beside another fault',
      'select id + 1, lower(size), nme from events',
      ['+', 'lower(size)', 'nme'],
    ],
    ['faults of both sides of a UNION', 'select idd from events union all select att from events', ['idd', 'att']],
    [
      'a fault in a subquery and one around it',
      'select (select max(sze) from events), idd from events',
      ['sze', 'idd'],
    ],
    ['an unknown field of an element', 'select i.sk, idd from events, unnest(items) as i', ['sk', 'idd']],
    ['a condition that is not a BOOL', 'select count(*) from events where size having idd > 1', ['size', 'idd']],
    ['a join on an unknown column', 'select a.idd from events as a join events as b on a.id = b.idd', ['idd', 'idd']],
    ['two unknown tables', 'select id from evnts union all select id from eventz', ['evnts', 'eventz']],
  ])('%s', (_what, sql, faults) => {
    expect(survey(sql).faults.sort()).toEqual([...faults].sort());
  });

  test.each([
    ['columns of an unknown table', 'select id, t.size, lower(x) from evnts as t where y group by z'],
    [
      'columns of a CTE over an unknown table',
      'with a as (select * from evnts) select x, a.y from a where lower(z) = 1',
    ],
    ['columns of a subquery over an unknown table', 'select x.y from (select * from evnts) as x'],
    [
      'what is made of an unknown column',
      'with a as (select id, idd as q from events) select q.r, lower(q), q + 1 from a',
    ],
    [
      'elements of an unknown array',
      'select m.x from events cross join unnest(itms) as m cross join unnest(m.y) as n where n.z',
    ],
    ['grouping by an unknown column', 'select id, count(*) from events group by idd having count(*) > 1'],
    ['stars without columns that may be there', 'select * except (nme) from evnts'],
    ['other operands of a set operation', 'select idd, 1 from events union all select id, 2 from events'],
  ])('one fault, not those that follow from it: %s', (_what, sql) => {
    expect(survey(sql).faults).toHaveLength(1);
  });

  test('the columns, whatever is wrong with one', () => {
    expect(survey('select id, idd as x, size from events').columns).toEqual(['id', 'x', 'size']);
  });

  test('at most twenty faults', () => {
    expect(
      survey(`select ${Array.from({ length: 50 }, (_, i) => `c${i}`).join(', ')} from events`).faults,
    ).toHaveLength(20);
  });
});
