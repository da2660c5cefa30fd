import type { Document } from 'yaml';

import { typeText } from '../../googlesql/type-names';
import { comparedRows } from './compare';
import { writeExact } from '../../json';
import type { Outcome } from './outcome';
import { type EndpointTest, expectsSomething } from './test-file';

/** Characters of a row that stands on one line. */
const ONE_LINE = 100;

/**
 * Writes what came in place of what a test expects, of each kind of expectation that it has; a test without any gets the
 * rows. Comments elsewhere stay.
 *
 * @param index of the test in the file
 */
export function updateTest(document: Document, index: number, test: EndpointTest, outcome: Outcome): void {
  const set = (name: string, value: unknown): void => {
    document.setIn(['tests', index, name], document.createNode(value));
  };
  const remove = (name: string): void => void document.deleteIn(['tests', index, name]);
  if (outcome.kind === 'error') {
    for (const name of ['rows', 'order', 'only', 'columns', 'count', 'truncated']) remove(name);
    const { reason, details } = outcome;
    const { parameter, near, line, column } = details;
    const wanted = typeof test.error === 'object' ? { parameter, near, line, column } : {};
    const members = Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && Object.hasOwn(test.error as object, name),
    );
    set('error', members.length === 0 ? reason : { reason, ...Object.fromEntries(members) });
    return;
  }
  const { rows, columns, truncated } = outcome;
  remove('error');
  if (test.columns !== undefined) {
    set('columns', Object.fromEntries(columns.map(({ name, type }) => [name, typeText(type)])));
  }
  if (test.count !== undefined) set('count', rows.length);
  if (test.truncated !== undefined) set('truncated', truncated);
  if (test.rows === undefined && test.error === undefined && expectsSomething(test)) return;
  const nodes = comparedRows(test, rows).map((row) =>
    document.createNode(row, { flow: writeExact(row).length <= ONE_LINE }),
  );
  set('rows', nodes);
}
