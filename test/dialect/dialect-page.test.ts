/** `docs/dialect.md` says what the embedded engine does: `UPDATE_DOCS=1` writes its generated part anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueryError } from '../../src/errors';
import { TranslationBench } from '../../packages/duckdb-engine/test/duckdb-translation';
import { generatedPart, REFUSED } from './dialect-page';
import { opened } from '../opened';

const PART = /(?<=<!-- generated -->\n\n)[^]*(?=\n\n<!-- end -->)/;

test('docs/dialect.md lists what there is', () => {
  const page = join(__dirname, '../../docs/dialect.md');
  if (process.env['UPDATE_DOCS']) writeFileSync(page, readFileSync(page, 'utf8').replace(PART, generatedPart));
  expect(PART.exec(readFileSync(page, 'utf8'))?.[0]).toBe(generatedPart());
});

describe('what is not supported is refused with its position', () => {
  const bench = opened(() => TranslationBench.open());

  test.each(REFUSED.map((one) => [one.sql, one] as const))('%s', (_, { sql, at }) => {
    let error: unknown = null;
    try {
      bench().translate(sql);
    } catch (thrown) {
      error = thrown;
    }
    if (!(error instanceof QueryError)) throw new Error(`${sql} was not refused: ${String(error)}`);
    expect({ fault: error.fault, start: error.span?.start }).toEqual({
      fault: 'invalidQuery',
      start: sql.indexOf(at),
    });
    expect(error.message).toMatch(/not supported|^The embedded engine has no /);
  });
});
