import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as nodeTest } from 'node:test';
import { Harness } from './harness';

/** A Python with google-cloud-bigquery, pandas and db-dtypes; `.ci/run` makes one where the packages can be had. */
const python = process.env['BIGQUERY_PYTHON'] ?? '';

if (python === '') {
  process.stderr.write('BIGQUERY_PYTHON names no Python with google-cloud-bigquery: its program is not run.\n');
} else {
  const local = new Harness();
  void nodeTest("Google's Python client: queries, parameters, loads, pages, errors, frames", async () => {
    const { stdout } = await promisify(execFile)(python, [join(__dirname, 'python', 'program.py'), local.origin]);
    assert.equal(stdout.trim(), 'done');
  });
}
