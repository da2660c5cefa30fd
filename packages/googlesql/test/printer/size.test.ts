/** What is printed is bounded, and printing takes time in proportion to the text. */
import { QueryError } from '../../src/errors';
import { printQuery } from '../../src/printer';
import { resolve } from '../environment';
import { cpuTime } from '../../../../test/cpu-time';

const guards = new Map([['types_t', 'guard_of']]);

test.each([
  ['a sum of many terms', `select ${Array.from({ length: 400 }, (_, i) => `i * ${i}`).join(' + ')} as x from types_t`],
  [
    'many conditions',
    `select i from types_t where ${Array.from({ length: 3000 }, (_, i) => `s = 'x${i}'`).join(' or ')}`,
  ],
  [
    'queries within queries',
    `${'select * from ('.repeat(60)}select i, f, s, div(1, i) as d from types_t${') where d = 1'.repeat(60)}`,
  ],
  [
    'many tables',
    `select t0.i from types_t as t0 ${Array.from({ length: 60 }, (_, i) => `join types_t as t${i + 1} on t${i}.i = t${i + 1}.i`).join(' ')}`,
  ],
  ['many columns', `select ${Array.from({ length: 3000 }, (_, i) => `i as c${i}`).join(', ')} from types_t`],
])('%s', (_name, sql) => {
  const resolved = resolve(sql);
  expect(cpuTime(() => printQuery(resolved, { guards }))).toBeLessThan(1000);
  expect(printQuery(resolved, { guards }).sql.length).toBeLessThan(20 * sql.length + 10_000);
});

test('guards that would be written out too often', () => {
  const tables = Array.from({ length: 200 }, (_, i) => `types_t as t${i}`).join(', ');
  const terms = Array.from({ length: 800 }, (_, i) => `div(t1.i, ${i + 1}) = 1`).join(' or ');
  const print = (): unknown => printQuery(resolve(`select count(*) from ${tables} where ${terms}`), { guards });
  expect(print).toThrow(QueryError);
  expect(print).toThrow('The query is too long once its names are written out.');
});
