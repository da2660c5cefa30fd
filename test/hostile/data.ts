/** A DATA_DIR with one table of some thousand rows: more than DuckDB looks at together, of every type. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Two and a half times what DuckDB works on at once. */
const ROWS = 5_000;

const FIELDS: Readonly<Record<string, string>> = {
  i: 'INT64',
  f: 'FLOAT64',
  s: 'STRING',
  m: 'STRING',
  ts: 'TIMESTAMP',
  d: 'DATE',
  dt: 'DATETIME',
  tm: 'TIME',
  b: 'BOOL',
  n: 'NUMERIC',
  y: 'BYTES',
  j: 'STRING',
};

export interface Folder {
  readonly dataDir: string;
  readonly cacheDir: string;
  remove(): void;
}

export function makeFolder(): Folder {
  const root = mkdtempSync(join(tmpdir(), 'logquay-hostile-'));
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  const fields = Object.entries(FIELDS).map(([name, type]) => ({ name, type, mode: 'NULLABLE' }));
  const array = { name: 'a', type: 'INT64', mode: 'REPEATED' };
  writeFileSync(join(dataDir, 'schema.json'), JSON.stringify({ t: { fields: [...fields, array] } }));
  writeFileSync(
    join(dataDir, 't.ndjson'),
    Array.from({ length: ROWS }, (_, i) => `${JSON.stringify(row(i))}\n`).join(''),
  );
  return { dataDir, cacheDir: join(root, 'cache'), remove: () => rmSync(root, { recursive: true, force: true }) };
}

function row(i: number): object {
  const id = String(i).padStart(36, '0');
  const at = new Date(1_790_000_000_000 + i * 61_000).toISOString();
  return {
    i,
    f: i / 7,
    s: id,
    m: `GET /rest/v1/${i} `.repeat(50).slice(0, 800),
    ts: at,
    d: at.slice(0, 10),
    dt: at.slice(0, 19),
    tm: at.slice(11, 19),
    b: i % 2 === 0,
    n: `${i}.25`,
    y: Buffer.from(id).toString('base64'),
    j: JSON.stringify({ a: { b: [i, i + 1, { c: id }] }, k: id }),
    a: [i, i + 1, i + 2],
  };
}
