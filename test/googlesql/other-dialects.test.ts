/** Functions of other dialects are called what GoogleSQL calls them; it has none of these names itself. */
import { findFunction } from '../../src/googlesql/functions/catalogue';
import { otherDialectHint } from '../../src/googlesql/functions/other-dialects';
import { parseQuery } from '../../src/googlesql/parser';

it.each(['now', 'TO_CHAR', 'datediff', 'group_concat', 'split_part'])(
  '%s has a form in GoogleSQL that parses',
  (name) => {
    expect(findFunction(name)).toBeUndefined();
    const form = /^In GoogleSQL: (.*?)(?:, or .*)?\.$/.exec(otherDialectHint(name) ?? '')?.[1];
    expect(() => parseQuery(`select ${form}`)).not.toThrow();
  },
);

it('has none for other names', () => {
  expect(otherDialectHint('upper')).toBeUndefined();
  expect(otherDialectHint('constructor')).toBeUndefined();
});
