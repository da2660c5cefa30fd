import { namesInDoubleQuotes } from '../../packages/googlesql/src/consumer/analysis';
import { lex } from '../../packages/googlesql/src/lexer';

const COLUMNS = [{ name: 'id' }, { name: 'event_message' }];

test.each<readonly [string, readonly string[]]>([
  ['select "id" from t', ['id']],
  ["select 'id' from t", []],
  ['select `id` from t', []],
  ['select id, "event_message" as m, "ID" from t', ['event_message', 'ID']],
  ['select distinct "id" from t', ['id']],
  ['select id from t where "id" = 1 and id = "id"', ['id']],
  ['select id from t where id in ("id", "event_message")', []],
  ['select id from t order by "id"', ['id']],
  ['select count(*) from t group by 1, "id"', ['id']],
  ['select concat("id", "event_message"), f(x, "id") from t', []],
  ['select (select "id" from t) from t', ['id']],
  ['from t |> select id, "id" |> where "other" = 1', ['id']],
  ['select "status" from t', []],
  ['select r"id", b"id", """id""" from t', ['id']],
])('%s', (text, names) => {
  expect(namesInDoubleQuotes(text, lex(text), COLUMNS)).toEqual(names);
});
