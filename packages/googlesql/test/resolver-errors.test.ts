/** Faults: which, where in the text, and with what help. */
import { QueryError } from '../src/errors';
import { resolve } from './environment';
import { cpuTime } from '../../../test/cpu-time';

function fault(sql: string): QueryError & { readonly at: string } {
  try {
    resolve(sql);
  } catch (error) {
    if (error instanceof QueryError) {
      const at = error.span === null ? '' : sql.slice(error.span.start, error.span.end);
      return Object.assign(error, { at });
    }
    throw error;
  }
  throw new Error(`resolved: ${sql}`);
}

describe('unknown columns and fields', () => {
  it.each([
    ['select nosuch from edge_logs', 'nosuch', 'Unrecognized name: nosuch.'],
    ['select e.nosuch from edge_logs e', 'nosuch', 'Name nosuch not found inside e.'],
    ['select id from edge_logs where nosuch = 1', 'nosuch', 'Unrecognized name: nosuch.'],
    ['select edge_logs.id from edge_logs as e', 'edge_logs', 'Unrecognized name: edge_logs.'],
    ['select * except (nosuch) from edge_logs', 'nosuch', 'Column nosuch in SELECT * EXCEPT list does not exist.'],
    [
      'select i from types_t a join types_t b using (nosuch)',
      'nosuch',
      'Column nosuch in USING clause not found on left side of join.',
    ],
    ['select st.c from types_t', 'c', 'Field name c does not exist in STRUCT<a INT64, b STRING>.'],
    ['select i x from types_t order by y', 'y', 'Unrecognized name: y.'],
  ])('%s', (sql, at, message) => {
    expect(fault(sql)).toMatchObject({ fault: 'unknownField', at, message });
  });

  it('suggests the nearest name', () => {
    expect(fault('select event_mesage from edge_logs').details.hint).toBe('Did you mean event_message?');
    expect(fault('select r.pth from edge_logs, unnest(metadata) m, unnest(m.request) r').details.hint).toBe(
      'Did you mean path?',
    );
    expect(fault('select completely_else from edge_logs').details.hint).toBeUndefined();
  });

  it('lists the names there are, where they are few', () => {
    expect(fault('select st.c from types_t').details.allowed).toEqual(['a', 'b']);
    expect(fault('select a.nosuch from types_t a cross join edge_logs').details.allowed).toHaveLength(19);
    expect(fault('select nosuch from types_t a cross join edge_logs').details.allowed).toBeUndefined();
  });

  it('sees a name only where its scope is', () => {
    expect(fault('select x from types_t where i > x').at).toBe('x');
    expect(fault('select * from types_t t, (select t.i)').at).toBe('t');
    expect(fault('select 1 from types_t t where exists (select 1 from types_t u) and u.i = 1').at).toBe('u');
    expect(fault('with a as (select t.i) select * from types_t t, a').at).toBe('t');
  });
});

describe('errors of meaning', () => {
  it.each([
    ['select net.nosuch(id) from edge_logs', 'net.nosuch'],
    ['select id + 1 from edge_logs', '+'],
    ["select * from edge_logs where timestamp > 'yesterday'", "'yesterday'"],
    ['select id, count(*) from edge_logs', 'id'],
    ['select i from types_t where count(*) > 1', 'count(*)'],
    ['select * from edge_logs, edge_logs', 'edge_logs'],
    ['select i from types_t order by 2', '2'],
    ['select 1 union all select 1, 2', 'select 1, 2'],
    ['select timestamp_trunc(ts, fortnight) from types_t', 'fortnight'],
    ['with a as (select 1), a as (select 2) select 1', 'a'],
  ])('%s: the place is %s', (sql, at) => {
    expect(fault(sql)).toMatchObject({ fault: 'invalidQuery', at });
  });

  it('says how to reach a field of a list', () => {
    expect(fault('select metadata.request from edge_logs').message).toMatch(
      /^Cannot access field request on a value with type ARRAY<.* UNNEST the array/,
    );
  });

  it('suggests functions and date parts', () => {
    expect(fault("select substing('x', 1)").details.hint).toBe('Did you mean SUBSTRING?');
    expect(fault('select coutn(id) from edge_logs').details.hint).toBe('Did you mean COUNT?');
    expect(fault('select timestamp_trunc(ts, minut) from types_t').details.hint).toBe('Did you mean MINUTE?');
  });

  it('never says the whole type of a log row', () => {
    expect(fault('select upper(e) from edge_logs e').message.length).toBeLessThan(250);
  });
});

describe('bounds', () => {
  it('resolves what the parser lets through in time that grows with the text', () => {
    const keys = Array.from({ length: 2000 }, (_, i) => `i + ${i}`).join(', ');
    const positions = Array.from({ length: 2000 }, (_, i) => i + 1).join(', ');
    for (const text of [
      `select ${keys} from types_t group by ${positions}`,
      `select i from types_t where ${Array(4000).fill('i = 1').join(' or ')}`,
      `select i in (${Array.from({ length: 9000 }, (_, i) => i).join(', ')}) from types_t`,
    ]) {
      expect(cpuTime(() => resolve(text))).toBeLessThan(4000);
    }
  });

  it('resolves deep nesting', () => {
    let sql = 'select i from types_t';
    for (let i = 0; i < 60; i++) sql = `select i, count(*) as c from (${sql}) group by i`;
    expect(resolve(sql).output).toHaveLength(2);
  });
});
