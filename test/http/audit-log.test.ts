/** The audit log: who asked for what, in a file that may be renamed and may not be written to. */
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { AuditLog } from '../../src/http/audit-log';
import type { CompletedRequest } from '../../src/telemetry';
import { until } from '../until';

const folder = mkdtempSync(path.join(os.tmpdir(), 'logquay-audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const REQUEST: CompletedRequest = {
  ...{ key: 'app', account: 'app/5e', route: '/api/endpoints/query/:idOrName', endpoint: 'logs.all', method: 'POST' },
  ...{ query: { language: 'lql', text: 'f:edge_logs' }, parameters: ['lql', 'project'], rows: 3, billed: 7n },
  ...{ status: 200, arrived: 0, milliseconds: 12.3, phases: [], bytes: 40 },
};

const linesOf = (file: string): unknown[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

it('tells who asked for what, and no value', async () => {
  const file = path.join(folder, 'audit.ndjson');
  const audit = new AuditLog(file, false);
  audit.write('r1', REQUEST, '/api/endpoints/query/logs.all?project=secret&a=b#c');
  audit.write('r2', { ...REQUEST, key: 'script', account: 'script', query: undefined, parameters: undefined }, '/');
  audit.write('r3', { ...REQUEST, key: undefined, account: undefined, status: 401, reason: 'unauthenticated' }, '/');
  // More wrong keys than are answered with 401 in a minute.
  audit.write('r4', { ...REQUEST, key: undefined, account: undefined, status: 429, reason: 'rateLimitExceeded' }, '/');
  audit.write('r5', { ...REQUEST, key: undefined, account: undefined, status: 200 }, '/health');
  audit.close();
  const [first, second, third, fourth, ...more] = linesOf(file);
  expect(first).toMatchObject({
    ...{ id: 'r1', issuer: 'app', subject: '5e', endpoint: 'logs.all', parameters: ['project', 'a', 'lql'] },
    ...{ language: 'lql', query: expect.stringMatching(/^[0-9a-f]{64}$/), status: 200, rows: 3, billed: '7', ms: 12 },
  });
  expect(second).toMatchObject({ id: 'r2', key: 'script' });
  expect(third).toMatchObject({ id: 'r3', status: 401 });
  expect(fourth).toMatchObject({ id: 'r4', status: 429 });
  expect(more).toEqual([]);
  expect(readFileSync(file, 'utf8')).not.toMatch(/secret|f:edge_logs/);
});

it('has the text of queries where that is asked for, and goes on in a new file when its own was renamed', async () => {
  const file = path.join(folder, 'rotated.ndjson');
  const audit = new AuditLog(file, true);
  audit.write('r1', REQUEST, '/');
  await until(() => readFileSync(file, 'utf8').includes('f:edge_logs'));
  renameSync(file, `${file}.1`);
  await until(() => {
    audit.write('r2', REQUEST, '/');
    try {
      return readFileSync(file, 'utf8').includes('r2');
    } catch {
      return false;
    }
  }, 100);
  audit.close();
  expect(linesOf(`${file}.1`)[0]).toMatchObject({ id: 'r1' });
});

it('drops and counts what cannot be written', async () => {
  const audit = new AuditLog(path.join(folder, 'no/such/folder'), false);
  const faults: (string | null)[] = [];
  audit.onFault((fault) => void faults.push(fault));
  audit.write('r1', REQUEST, '/');
  await until(() => audit.dropped === 1);
  expect(faults).toEqual(['ENOENT']);
  audit.close();
});
