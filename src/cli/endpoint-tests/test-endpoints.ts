import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { MOST_OF_QUERY, readBounded } from '../../files';
import { readDefinition } from '../../endpoints/definition';
import type { Endpoint } from '../../endpoints/endpoint';
import { describeFault } from '../../endpoints/fault';
import { systemCode } from '../../errors';
import type { LocalRunner } from '../local-runner';
import { compare } from './compare';
import { dataSetOf, identityOf } from './data-set';
import { type EngineName, openEngineOfTests } from './engine-of-tests';
import type { FileResult, TestResult } from './outcome';
import { runTest } from './run-test';
import { expectsSomething, readTestFile, type TestFile } from './test-file';
import { updateTest } from './update';

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
