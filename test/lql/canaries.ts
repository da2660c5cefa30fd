/**
 * Texts that try to leave their literal, in every value position, on an engine: each finds the row that holds it, and
 * no other. What is run goes through LQL and the gate as a caller's text does.
 */
import { readLql } from '../../packages/googlesql/src/lql/read';
import { toSql } from '../../packages/googlesql/src/lql/sql';
import { restFieldsOf } from '../../packages/duckdb-engine/test/fields';
import { oneOf } from '../scale';
import type { Run } from './rows-over-engine';

const TEXTS: readonly string[] = [
  "'",
  '"',
  '\\',
  "\\'",
  "\\\\'",
  "' OR TRUE --",
  "' OR 1=1 #",
  "') OR (TRUE",
  "'''",
  '"""',
  "x' UNION ALL SELECT 'canary' FROM raw_lql -- ",
  "\\' UNION ALL SELECT 'canary' FROM raw_lql -- ",
  '/* x */',
  '-- x',
  '# x',
  '@project',
  '@@x',
  '`',
  '?',
  '${x}',
  '{{projectId}}',
  '$1',
  'line\nfeed',
  'carriage\rreturn',
  'tab\tstop',
  '\\n',
  '\\x27',
  '\\u0027',
  '\u0001\u001f',
  'ä😀\u2028',
  "r'x'",
  "b'x'",
  '%_',
  ';',
  "'; DROP TABLE raw_lql; --",
];

/** A table with a row for each text. */
export const CANARIES = {
  fields: restFieldsOf(
    'timestamp TIMESTAMP, id STRING, event_message STRING, metadata RECORD*(name STRING, tags STRING*)',
  ),
  rows: TEXTS.map((text, i) => ({
    timestamp: '2024-03-17T12:00:00Z',
    id: String(i),
    event_message: text,
    metadata: [{ name: text, tags: ['other', text] }],
  })),
};

/** One of `part` texts is sought in every place, each in a message search. */
export function testCanaries(engine: string, run: Run, part = 1): void {
  const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
  // RE2 takes any punctuation behind a backslash for itself; other characters are literal.
  const pattern = (text: string): string => quoted(`^${text.replace(/[!-/:-@[-`{-~]/g, '\\$&')}$`);
  const positions: Readonly<Record<string, (text: string) => string>> = {
    equality: (text) => `event_message:${quoted(text)}`,
    'a nested field': (text) => `m.name:${quoted(text)}`,
    'an array': (text) => `m.tags:@>${quoted(text)}`,
    'a pattern': (text) => `event_message:~${pattern(text)}`,
    'a pattern in an array': (text) => `m.tags:@>~${pattern(text)}`,
    'order on both sides': (text) => `m.name:>=${quoted(text)} m.name:<=${quoted(text)}`,
    'a negated inequality': (text) => `-m.name:>${quoted(text)} -m.name:<${quoted(text)}`,
  };

  describe(`canaries on ${engine}`, () => {
    test.each(Object.entries(positions))('in %s find their own row', async (_position, lql) => {
      for (const [i, text] of oneOf(part, [...TEXTS.entries()])) {
        const reading = readLql(lql(text), { tables: ['edge_logs'], now: 0n });
        if (reading.kind === 'blank') throw new Error('Not blank.');
        const { sql } = toSql(reading.rules, { name: reading.table, columns: null });
        const rows = await run(sql, ['edge_logs']);
        expect([text, rows.map(({ id }) => id)]).toEqual([text, [String(i)]]);
      }
    });

    test('in a message search find the rows that contain them', async () => {
      for (const text of TEXTS) {
        const reading = readLql(quoted(text), { tables: ['edge_logs'], now: 0n });
        if (reading.kind === 'blank') throw new Error('Not blank.');
        const rows = await run(toSql(reading.rules, { name: reading.table, columns: null }).sql, ['edge_logs']);
        const expected = TEXTS.flatMap((one, i) => (one.includes(text) ? [String(i)] : []));
        expect([text, rows.map(({ id }) => String(id)).sort()]).toEqual([text, expected.sort()]);
      }
    });
  });
}
