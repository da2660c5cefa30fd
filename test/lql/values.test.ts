import fc from 'fast-check';
import { lex } from '../../packages/googlesql/src/lexer';
import { LqlError } from '../../packages/googlesql/src/lql/lql-error';
import { readLql } from '../../packages/googlesql/src/lql/read';
import type { Rules, Value } from '../../packages/googlesql/src/lql/rules';
import { toSql } from '../../packages/googlesql/src/lql/sql';
import { DEFAULT_NOW } from './case-file';

/** The tokens that do not depend on values: kind, name or symbol, and of literals the kind alone. */
function shape(sql: string): string[] {
  return lex(sql).map((token) => {
    const literal = token.kind === 'string' || token.kind === 'integer' || token.kind === 'float';
    return `${token.kind} ${literal ? '' : token.value}`;
  });
}

const texts = (sql: string): string[] => lex(sql).flatMap((token) => (token.kind === 'string' ? [token.value] : []));

function translate(text: string): { rules: Rules; sql: string } | null {
  const reading = readLql(text, { tables: ['edge_logs'], now: DEFAULT_NOW });
  if (reading.kind === 'blank') return null;
  return { rules: reading.rules, sql: toSql(reading.rules, { name: reading.table, columns: null }).sql };
}

/** What has broken out of SQL literals elsewhere, beside any text at all. */
const HOSTILE = [
  "'",
  "''",
  "\\'",
  "\\\\'",
  '\\',
  '\\\\',
  "' OR TRUE --",
  "') OR (TRUE",
  "\\' OR 1=1 --",
  "'; SELECT 1; --",
  '*/ /*',
  '#',
  '--',
  '`',
  '"',
  '"""',
  "'''",
  '\n',
  '\r',
  '\r\n',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u007f',
  '\u001b',
  '@project',
  '$1',
  '${x}',
  '{{projectId}}',
  '?',
  '%s',
  'r',
  'b',
  '\u02bc',
  '\uff07',
  '🚀',
  '\u0301',
];
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).map((text) => text.replace(/\0|\p{Surrogate}/gu, '')),
  fc.array(fc.constantFrom(...HOSTILE, 'x'), { maxLength: 8 }).map((parts) => parts.join('')),
);

describe('no value reaches the SQL but as one literal', () => {
  test('in any text that is read at all', () => {
    const piece = fc.oneof(
      anyText,
      fc.constantFrom(...CLAUSE_PARTS),
      fc.string({ unit: 'grapheme-ascii', maxLength: 6 }),
    );
    let read = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const translation = accepted(parts.join(''));
        if (translation === null) return;
        read++;
        const { rules, sql } = translation;
        const neutral = toSql(neutralised(rules), { name: 'edge_logs', columns: null }).sql;
        expect(shape(sql)).toEqual(shape(neutral));
        const values = rules.filters.flatMap((f) => ('values' in f ? [...f.values] : [f.value]));
        const asText = values.filter((value) => typeof value === 'string');
        expect(texts(sql).filter((text) => !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?\+00:00$/.test(text))).toEqual(
          asText,
        );
      }),
      { numRuns: 8000 },
    );
    expect(read).toBeGreaterThan(800);
  });
});

const CLAUSE_PARTS = [
  ' ',
  ' ',
  '\t',
  '\n',
  '-',
  'm.a',
  'a.b.c',
  ':',
  ':>',
  ':~',
  ':@>',
  ':@>~',
  '"',
  '(',
  ')',
  '~',
  '..',
]
  .concat(['t:', 'today', '2024-03-17', 'last@2h', 'now', 's:', 'id', '@x', '*', 'c:', 'count(*)', 'group_by(t::h)'])
  .concat(['f:edge_logs', 'true', 'NULL', '5', '-1.5', 'info..error', 'm.level:', '"x y"', '(x)', '\\"', "'"]);

function accepted(text: string): { rules: Rules; sql: string } | null {
  try {
    return translate(text);
  } catch (error) {
    if (error instanceof LqlError) return null;
    throw error;
  }
}

/** The same rules with other values of the same kinds. */
function neutralised(rules: Rules): Rules {
  return {
    ...rules,
    filters: rules.filters.map((filter) => {
      switch (filter.operator) {
        case 'range':
          return { ...filter, values: [neutral(filter.values[0]), neutral(filter.values[1])] };
        case 'in':
          return { ...filter, values: filter.values.map(() => 'canary') };
        case 'contains':
        case '~':
        case 'list_includes_regex':
          return { ...filter, value: 'canary' };
        default:
          return { ...filter, value: neutral(filter.value) };
      }
    }),
  };
}

function neutral(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return 'canary';
    case 'bigint':
      return value < 0n ? -1n : 1n;
    case 'number':
      return value < 0 || Object.is(value, -0) ? -0.5 : 0.5;
    case 'boolean':
      return value;
    default:
      return value === null ? null : { micros: 0n };
  }
}
