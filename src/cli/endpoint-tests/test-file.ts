import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';

import { jsonSchemaOf } from '../../endpoints/settings-json-schema';
import { ERRORS, lineAndColumn, type Reason } from '../../errors';
import { systemCode, MOST_OF_LIST, readBounded } from '@logquay/duckdb-engine/files';

/** A file of tests cannot be read: one line for each fault, `file:line: reason`. */
export class TestFileError extends Error {
  override readonly name = 'TestFileError';
}

const REASONS = Object.keys(ERRORS) as [Reason, ...Reason[]];

const reason = z.enum(REASONS, { error: 'the reason of an error is one of docs/querying.md' });
const text = (what: string) => z.string({ error: `${what} must be a text` });
const row = z.record(z.string(), z.unknown(), { error: 'a row must be a map of columns' });
const scalar = z.union([z.string(), z.number(), z.bigint(), z.boolean()], {
  error: 'the value of a parameter is a text, a number, true or false',
});

const clock = text('clock').describe('The present of the queries: an ISO 8601 instant with its zone.');

const tables = z
  .record(
    z.string(),
    z.union([z.array(row), z.strictObject({ file: text('file').describe('NDJSON, beside the file of tests.') })], {
      error: 'a table is a list of rows, or { file: FILE.ndjson }',
    }),
    { error: 'tables must be a map of tables' },
  )
  .describe('Rows by table; every other table is empty.');

const key = z
  .strictObject({
    endpoints: z.array(text('each endpoint')).describe('Names or ids; without it, every endpoint.').optional(),
    pins: z
      .record(
        z.string(),
        z.union([z.string(), z.array(z.string()).min(1)], {
          error: 'a pinned value must be a text, or a list of texts',
        }),
      )
      .describe('Parameters whose value the key fixes.')
      .optional(),
    redact: z.boolean().describe('Redaction is forced.').optional(),
    allow_sql: z.boolean().describe('May send sql and lql although redaction is forced.').optional(),
  })
  .describe('The key of the request; without it, one that may do everything.');

const error = z.union(
  [
    reason,
    z.strictObject({
      reason,
      message: text('message').describe('A part of the message.').optional(),
      parameter: text('parameter').optional(),
      near: text('near').optional(),
      line: z.bigint({ error: 'line must be a whole number' }).optional(),
      column: z.bigint({ error: 'column must be a whole number' }).optional(),
    }),
  ],
  { error: 'error is a reason, or a map with reason and any of message, parameter, near, line and column' },
);

/** One test. */
export const testSchema = z.strictObject({
  name: z.string({ error: 'a test needs a name' }).min(1).describe('What the test shows.'),
  clock: clock.optional(),
  tables: tables.optional(),
  params: z
    .record(z.string(), z.union([scalar, z.array(scalar)]), { error: 'params must be a map of values' })
    .describe('Parameters of the request; a list is sent as a repeated parameter.')
    .optional(),
  sql: text('sql').describe('A consumer query.').optional(),
  lql: text('lql').describe('A consumer query in LQL.').optional(),
  redact: z.boolean({ error: 'redact must be true or false' }).describe('LF-ENDPOINT-REDACT-PII.').optional(),
  key: key.optional(),
  rows: z.array(row, { error: 'rows must be a list of rows' }).describe('The rows of the result.').optional(),
  order: z
    .enum(['exact', 'any'], { error: 'order must be exact or any' })
    .describe('Whether rows have to come in this order; default: exact.')
    .optional(),
  only: z.array(text('each column')).describe('The columns that `rows` compares; default: all.').optional(),
  columns: z
    .record(z.string(), text('the type of a column'), { error: 'columns must be a map from names to types' })
    .describe('The columns of the result, in order, with their GoogleSQL types.')
    .optional(),
  count: z.bigint({ error: 'count must be a whole number' }).describe('How many rows the result has.').optional(),
  truncated: z.boolean().describe('Whether max_rows cut the result.').optional(),
  error: error.describe('The error that the request is answered with.').optional(),
});

/** A file of tests (docs/endpoints.md#tests is held to it). */
export const testFileSchema = z.strictObject(
  {
    clock: clock.optional(),
    schema: z
      .union([z.string(), z.record(z.string(), z.unknown())], {
        error: 'schema is the name of a file, or a map from tables to {"fields": [...]}',
      })
      .describe('Columns of tables other than the log tables, in the form of schema.json, or a file with them.')
      .optional(),
    tables: tables.optional(),
    tests: z
      .array(testSchema, { error: 'tests must be a list with at least one test' })
      .min(1, { error: 'tests must be a list with at least one test' }),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a file of tests is a map with tests') },
);

export type EndpointTest = z.output<typeof testSchema>;
export type Tables = z.output<typeof tables>;

/** A file of tests as it was read. */
export interface TestFile {
  readonly path: string;
  readonly content: z.output<typeof testFileSchema>;
  /** With its comments, for `--update`. */
  readonly document: Document;
}

/** @throws TestFileError with every fault of the file */
export async function readTestFile(path: string): Promise<TestFile> {
  const bytes = await readBounded(path, MOST_OF_LIST).catch((problem: unknown) => {
    throw new TestFileError(`${path}: cannot be read (${systemCode(problem) ?? 'unknown'})`);
  });
  const yaml = bytes.toString();
  const document = parseDocument(yaml, { intAsBigInt: true, prettyErrors: false, version: '1.2' });
  const fault = (offset: number, what: string): string =>
    `${path}:${String(lineAndColumn(yaml, offset).line)}: ${what}`;
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0) {
    throw new TestFileError(syntax.map(({ pos, message }) => fault(pos[0], `bad YAML: ${message}`)).join('\n'));
  }
  const read = testFileSchema.safeParse(document.toJS());
  if (!read.success) {
    throw new TestFileError(
      read.error.issues
        .map((issue) => {
          const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
          const what = keys.length === 0 ? issue.message : `unknown: ${keys.join(', ')}`;
          return fault(offsetOf(document, issue.path), what);
        })
        .join('\n'),
    );
  }
  const faults = read.data.tests.flatMap((test, i) => {
    const what = contradiction(test);
    return what === null ? [] : [fault(offsetOf(document, ['tests', i]), `test "${test.name}": ${what}`)];
  });
  if (faults.length > 0) throw new TestFileError(faults.join('\n'));
  return { path, content: read.data, document };
}

/** Whether a test says what has to come. */
export function expectsSomething({ rows, columns, count, truncated, error }: EndpointTest): boolean {
  return [rows, columns, count, truncated, error].some((expected) => expected !== undefined);
}

function contradiction(test: EndpointTest): string | null {
  const { rows, columns, count, truncated, error, order, only } = test;
  const ofResult = [rows, columns, count, truncated].some((expected) => expected !== undefined);
  if (error !== undefined && ofResult) return 'an error comes without rows, columns, count and truncated';
  if (rows === undefined && (order !== undefined || only !== undefined)) return 'order and only belong to rows';
  return null;
}

/** Where the nearest node to a path begins. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) {
      return Number(node.range[0]);
    }
  }
  return document.contents?.range?.[0] ?? 0;
}

/** Files of tests as JSON Schema, draft 7. */
export function testFileJsonSchema(): object {
  return { ...jsonSchemaOf(testFileSchema), title: 'Tests of a stored query of Logquay' };
}
