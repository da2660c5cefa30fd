import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Document } from 'yaml';

import { readDefinition } from '../../endpoints/definition';
import type { Endpoint } from '../../endpoints/endpoint';
import { describeFault } from '../../endpoints/settings';
import { ServiceError } from '../../errors';
import { systemCode, MOST_OF_QUERY, readBounded } from '@logquay/duckdb-engine/files';
import { typeText } from '@logquay/googlesql/types';
import { parseExact, writeExact } from '../../json';
import type { Key, PinnedValue } from '../../keys/key';
import type { LocalRunner } from '../local-runner';
import { compare, comparedRows } from './compare';
import { dataSetOf, identityOf } from './data-set';
import { type EngineName, openEngineOfTests } from './engine-of-tests';
import { type FileResult, type Outcome, type TestResult, readableRow, type Row } from './outcome';
import { type EndpointTest, expectsSomething, readTestFile, type TestFile } from './test-file';

/** Sends the request of a test. @throws AbortError by the signal; what is no answer to a caller */
export async function runTest(
  test: EndpointTest,
  endpoint: Endpoint,
  runner: LocalRunner,
  signal: AbortSignal,
): Promise<Outcome> {
  const request = {
    endpoint: endpoint.id,
    parameters: parametersOf(test),
    redact: test.redact ?? false,
    accept: 'application/x-ndjson',
  };
  try {
    const { response, columns } = await runner.run(request, keyOf(test), signal);
    const lines = response.bytes.toString('utf8').split('\n').slice(0, -1);
    const rows = lines.map((line) => readableRow(parseExact(line) as Row, columns));
    return { kind: 'result', columns, rows, truncated: response.truncated };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { reason, message, details } = error;
    return { kind: 'error', reason, message, details };
  }
}

function parametersOf({ params = {}, sql, lql }: EndpointTest): (readonly [string, string])[] {
  return [
    ...Object.entries(params).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const)),
    ...(sql === undefined ? [] : [['sql', sql] as const]),
    ...(lql === undefined ? [] : [['lql', lql] as const]),
  ];
}

function keyOf({ key = {} }: EndpointTest): Key {
  return {
    name: 'test',
    endpoints: key.endpoints ?? '*',
    pins: new Map<string, PinnedValue>(Object.entries(key.pins ?? {})),
    redact: key.redact ?? false,
    allowSql: key.allow_sql ?? false,
    export: false,
    rateLimit: null,
    dailyBytes: null,
    expires: null,
  };
}

/** Characters of a row that stands on one line. */
const ONE_LINE = 100;

/**
 * Writes what came in place of what a test expects, of each kind of expectation that it has; a test without any gets the
 * rows. Comments elsewhere stay.
 *
 * @param index of the test in the file
 */
function updateTest(document: Document, index: number, test: EndpointTest, outcome: Outcome): void {
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

const ENDING = '.test.yaml';

export interface TestOptions {
  readonly engine: EngineName;
  /** Rewrites what tests expect by what came. */
  readonly update: boolean;
  /** Aborted to end early. */
  readonly signal: AbortSignal;
}

/** The files of tests that are meant by files, and by folders of stored queries: each once, in this order. */
export async function findTestFiles(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const one of paths) {
    if (one.endsWith(ENDING)) found.add(one);
    else if (one.endsWith('.sql')) found.add(`${one.slice(0, -'.sql'.length)}${ENDING}`);
    else for (const name of await testsIn(one)) found.add(path.join(one, name));
  }
  return [...found];
}

async function testsIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(ENDING) && !name.startsWith('.')).sort();
  } catch (error) {
    throw new Error(`${folder}: cannot be read (${systemCode(error) ?? String(error)})`);
  }
}

/** Runs the tests of one file. @throws AbortError by the signal */
export async function testEndpoint(file: string, options: TestOptions): Promise<FileResult> {
  const tests: TestResult[] = [];
  let updated = 0;
  try {
    const content = await readTestFile(file);
    const endpoint = await endpointBeside(file);
    for (const group of await groupsOf(content)) {
      const runner = await openEngineOfTests(options.engine, group.data, endpoint, options.signal);
      try {
        for (const index of group.tests) {
          const { result, rewritten } = await runOne(content, index, endpoint, runner, options);
          tests[index] = result;
          if (rewritten) updated++;
        }
      } finally {
        await runner.close();
      }
    }
    // Lines stay as long as they are: a text of a row may hold anything.
    if (updated > 0) await writeFile(file, content.document.toString({ lineWidth: 0 }));
    return { path: file, faults: [], tests, updated };
  } catch (error) {
    options.signal.throwIfAborted();
    const faults = (error instanceof Error ? error.message : String(error)).split('\n');
    return { path: file, faults, tests: tests.filter(() => true), updated: 0 };
  }
}

async function runOne(
  file: TestFile,
  index: number,
  endpoint: Endpoint,
  runner: LocalRunner,
  { update, signal }: TestOptions,
): Promise<{ result: TestResult; rewritten: boolean }> {
  const test = file.content.tests[index];
  if (test === undefined) throw new Error(`test ${String(index)} is not there`);
  const started = performance.now();
  const outcome = await runTest(test, endpoint, runner, signal);
  const duration = performance.now() - started;
  const differences = compare(test, outcome);
  if (!expectsSomething(test))
    differences.push('it expects nothing: give it rows, columns, count or error, or --update');
  const rewritten = update && differences.length > 0;
  if (rewritten) updateTest(file.document, index, test, outcome);
  return { result: { name: test.name, differences: rewritten ? [] : differences, duration }, rewritten };
}

/** The tests by what they run on: an engine is opened once for each group. */
async function groupsOf(file: TestFile): Promise<Group[]> {
  const groups = new Map<string, Group>();
  for (const [index, test] of file.content.tests.entries()) {
    const data = await dataSetOf(file, test);
    const id = identityOf(data);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { data, tests: [index] });
    else group.tests.push(index);
  }
  return [...groups.values()];
}

interface Group {
  readonly data: Awaited<ReturnType<typeof dataSetOf>>;
  readonly tests: number[];
}

/** The stored query whose tests a file holds: `NAME.sql` beside `NAME.test.yaml`. */
async function endpointBeside(file: string): Promise<Endpoint> {
  const query = `${file.slice(0, -ENDING.length)}.sql`;
  const bytes = await readBounded(query, MOST_OF_QUERY).catch((error: unknown) => {
    throw new Error(`${query}: cannot be read (${systemCode(error) ?? String(error)}), and ${file} has its tests`);
  });
  const { endpoint, faults } = readDefinition(bytes);
  if (endpoint === null) throw new Error(faults.map((fault) => describeFault({ file: query, ...fault })).join('\n'));
  return endpoint;
}
