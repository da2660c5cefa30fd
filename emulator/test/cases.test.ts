import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { caseFile, CASES, Harness, type Json, test } from './harness';

const local = new Harness();

/** The stored query's WITH list, as the gateway puts it in front of a consumer's query. */
const STORED = readFileSync(join(__dirname, '..', '..', 'queries', 'logs.all.sql'), 'utf8').replace(
  /^\/\*[^]*?\*\//,
  '',
);
const WITH_LIST = STORED.slice(0, STORED.lastIndexOf('\n)\n') + 3);
const PARAMETERS = ['project', 'iso_timestamp_start', 'iso_timestamp_end'];

function run(sql: string, params: Json) {
  const consumer = sql.trimEnd().replace(/;$/, '');
  const queryParameters = PARAMETERS.map((name) => ({
    name,
    parameterType: { type: 'STRING' },
    parameterValue: { value: String(params[name] ?? '') },
  }));
  return local.query(`${WITH_LIST} (\n${consumer}\n)`, { queryParameters, maxResults: 1000 });
}

/** A REST value in the form of the expected results: timestamps as microseconds, wide integers as `{int64}`. */
function plain(field: Json, v: Json): unknown {
  const value = v as unknown;
  if (field['mode'] === ('REPEATED' as unknown))
    return (value as { v: Json }[]).map((item) => plain({ ...field, mode: 'NULLABLE' } as unknown as Json, item.v));
  if (value === null) return null;
  const fields = (field['fields'] ?? []) as unknown as Json[];
  switch (String(field['type'])) {
    case 'RECORD':
      return Object.fromEntries(
        fields.map((inner, i) => [String(inner['name']), plain(inner, (v['f']?.[i]?.['v'] ?? null) as Json)]),
      );
    case 'INTEGER':
    case 'TIMESTAMP':
      return Number.isSafeInteger(Number(value)) ? Number(value) : { int64: value };
    case 'FLOAT':
      return Number(value);
    case 'BOOLEAN':
      return value === 'true';
    case 'JSON':
      return JSON.parse(String(value));
    default:
      return value;
  }
}

function close(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => close(item, b[i]));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => close((a as never)[key], (b as never)[key]));
}

const expected = new Map(caseFile('log-queries-expected.jsonl').map((entry) => [String(entry['id']), entry]));

for (const entry of caseFile('log-queries.jsonl')) {
  const id = String(entry['id']);
  test(`${id} over the stored query`, async () => {
    const { status, json } = await run(String(entry['sql']), entry['params'] as Json);
    assert.equal(status, 200, JSON.stringify(json['error']));
    const fields = json['schema']?.['fields'] as unknown as Json[];
    const rows = ((json['rows'] ?? []) as unknown as { f: { v: Json }[] }[]).map((row) =>
      row.f.map(({ v }, i) => plain(fields[i] as Json, v)),
    );
    const wanted = [...(expected.get(id)?.['rows'] as unknown as unknown[])];
    assert.deepEqual(
      fields.map((field) => field['name']),
      (expected.get(id)?.['columns'] as unknown as [string][]).map(([name]) => name),
    );
    if ((entry['ordered'] as unknown) !== true)
      for (const list of [rows, wanted]) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    assert.equal(rows.length, wanted.length);
    rows.forEach((row, i) =>
      assert.ok(close(row, wanted[i]), `row ${i}: ${JSON.stringify(row)} is not ${JSON.stringify(wanted[i])}`),
    );
  });
}

for (const entry of caseFile('log-queries-error.jsonl')) {
  test(`${String(entry['id'])} is refused`, async () => {
    const { status, json } = await run(String(entry['sql']), entry['params'] as Json);
    assert.equal(status, 400);
    assert.equal(json['error']?.['errors']?.[0]?.['reason'], 'invalidQuery');
  });
}

const sandbox = JSON.parse(readFileSync(join(CASES, 'sandbox.json'), 'utf8')) as {
  id: string;
  kind: string;
  consumer: string;
}[];
// One reads a field that the fixture's tables do not have.
const runs = sandbox.filter(({ id, kind }) => kind === 'accept' && id !== 'acc-column-session-user');
for (const { id, consumer } of runs) {
  test(`${id} runs`, async () => {
    const { status, json } = await run(consumer, { project: 'default' } as unknown as Json);
    assert.equal(status, 200, JSON.stringify(json['error']));
  });
}
