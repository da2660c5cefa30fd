import { misreadingsOf } from '../../packages/googlesql/src/lql/misreadings';

const said = (text: string): string =>
  misreadingsOf(text)
    .map(({ message, hint }) => `${message} ${hint}`)
    .join(' ');

it.each([
  ['error OR timeout', 'LQL has no OR', '~"first|second"'],
  ['error || timeout', 'LQL has no ||', '~"first|second"'],
  ['(error or timeout)', 'LQL has no or', '~"first|second"'],
  ['level=error', 'searches messages for the text level=error', 'level:error'],
  ['metadata.level==error', 'searches messages', 'metadata.level:error'],
  ['status>=500', 'searches messages', 'status:>=500'],
  ["path='/a b'", 'searches messages', 'path:'],
  ['status!=200', 'searches messages', '-status:200'],
  ['level = error', 'searches messages for the text =', 'level:error'],
  ["'two words'", 'apostrophe', 'double quotes'],
  ['select id from edge_logs', 'looks like SQL', 'the parameter sql'],
  ['f:edge_logs SELECT * FROM x', 'looks like SQL', 'the parameter sql'],
  ['timeout order by timestamp', 'LQL has no order by', 'newest first'],
  ['error GROUP BY path', 'LQL has no GROUP by', 'the parameter sql'],
  ['level in (a,b)', 'LQL has no in', 'level:~"^(error|warning)$"'],
  ['level IN (a, b)', 'LQL has no IN', 'level:~'],
  ['err*', 'no wildcards', '~"time.*out"'],
])('%s is read as a search, and may have been meant otherwise', (text, message, hint) => {
  expect(said(text)).toContain(message);
  expect(said(text)).toContain(hint);
});

it.each([
  'select a user',
  'error in handler',
  'order 17',
  '"select 1 from x"',
  'error timeout',
  '"error OR timeout"',
  'level:error',
  'm.path:"a=b"',
  'word "or"',
  '~"a|b"',
  'a=',
  '',
  '1*2',
])('%s is what it says', (text) => {
  expect(said(text)).toBe('');
});

it('says each kind once and little, of faulty and long texts nothing', () => {
  expect(misreadingsOf('a OR b OR c AND d')).toHaveLength(1);
  expect(misreadingsOf("a OR b c=d e* 'f")).toHaveLength(3);
  expect(misreadingsOf('a OR "b')).toEqual([]);
  expect(misreadingsOf(`a OR b ${'c '.repeat(1500)}`)).toEqual([]);
});
