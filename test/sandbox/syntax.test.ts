/** On every case file: what is a query to our parser is one to Google's, and the other way round. */
import { QueryError } from '../../packages/googlesql/src/errors';
import { surveyQuery } from '../../packages/googlesql/src/parser';
import { checkStatement } from '../../packages/googlesql/src/statement';
import { lex } from '../../packages/googlesql/src/lexer';
import { rewriteLeniently } from '../../packages/googlesql/src/consumer/lenient';
import { queriesOf, SANDBOX_CASES } from '../case-files';
import { localBigQueryInstalled } from '../local-bigquery';
import { CASES } from '../lql/case-file';
import { Oracle } from './fuzz/oracle';
import { opened } from '../opened';

const LENIENT = queriesOf('log-queries-lenient.jsonl');

const FILES: Readonly<Record<string, readonly string[]>> = {
  'sandbox.json': SANDBOX_CASES.map(({ consumer }) => consumer),
  'log-queries.jsonl': queriesOf('log-queries.jsonl'),
  'log-queries-error.jsonl': queriesOf('log-queries-error.jsonl'),
  'log-queries-lenient.jsonl': LENIENT,
  'log-queries-lenient.jsonl, rewritten': LENIENT.map((sql) => rewriteLeniently(sql)?.text ?? sql),
  'lql.json': CASES.flatMap(({ sql }) => sql ?? []),
};

/** Another statement than a query is theirs by its first word, read no further: to us it is no matter of syntax. */
function isOtherStatement(sql: string): boolean {
  try {
    checkStatement(lex(sql));
    return false;
  } catch (error) {
    return error instanceof QueryError && error.fault === 'sandboxViolation';
  }
}

/** Ours to refuse as no query although it is one, or a statement, to Google's: bounds, and statements without a query. */
const NO_QUERY_HERE = /^(?:explain|show|values)\b|^select \({101}/i;

/** null for what we refuse by the name of a construct: it never runs, whatever it is to Google. */
function isQueryToUs(sql: string): boolean | null {
  try {
    const { second, unsupported } = surveyQuery(sql);
    return unsupported.length > 0 ? null : second === null;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

const available = localBigQueryInstalled || process.env['CI'] !== undefined;
if (!available) process.stdout.write('Skipped: the oracle of the sandbox is not installed. npm ci --prefix emulator\n');

(available ? describe : describe.skip)('what is a query', () => {
  const oracle = opened(() => Oracle.start());

  test.each(Object.entries(FILES))('in %s is one to both parsers', async (_file, texts) => {
    const queries = texts.filter((sql) => !isOtherStatement(sql) && !NO_QUERY_HERE.test(sql));
    expect(queries.length).toBeGreaterThan(3);
    const disputed: string[] = [];
    for (const sql of queries) {
      const ours = isQueryToUs(sql);
      if (ours === null) continue;
      const theirs = (await oracle().parses(sql)) || (await oracle().analyse(sql)).analysis.ok;
      if (theirs !== ours) disputed.push(`${theirs ? 'only theirs' : 'only ours'}: ${sql}`);
    }
    expect(disputed).toEqual([]);
  });
});
