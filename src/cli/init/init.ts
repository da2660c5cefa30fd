/** Writes stored queries over a table that is there, or over one of a known shape (docs/endpoints.md). */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { parse } from 'yaml';
import { z } from 'zod';

import type { Engine } from '@logquay/duckdb-engine/contract';
import { ignoreMissing, MOST_OF_LIST, readBounded, replaceFile, systemCode } from '@logquay/duckdb-engine/files';
import { columnsOf, parseRestSchema, TIME_UNITS } from '@logquay/googlesql/types';
import { openEngine } from '../../app';
import { type Config, readConfig } from '../../config';
import { openLog } from '../../log';
import { countsEndpoint, InitError, rowsEndpoint, type ShapedTable, tenantOf } from './endpoint-text';
import { madeUpRows, restField, type Sample, testFileText, testsOfCounts, testsOfRows } from './sample-rows';

export interface InitRequest {
  /** A file, or the name of a table; of a preset the name that its table has here. */
  readonly what: string | undefined;
  /** `bigquery:DATASET.TABLE`. */
  readonly from?: string | undefined;
  readonly preset?: string | undefined;
  /** A field, as a path with dots. */
  readonly tenant?: string | undefined;
  /** Of the endpoint. */
  readonly name?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PRESETS = path.join(__dirname, 'presets');

const presetSchema = z.strictObject({
  table: z.string(),
  about: z.string(),
  daily: z.boolean().default(false),
  units: z.record(z.string(), z.enum(TIME_UNITS)).default({}),
  countBy: z.string().nullable().default(null),
  fields: z.array(z.unknown()),
  rows: z.array(z.record(z.string(), z.unknown())),
});

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A file that is to be written. */
interface NewFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Writes the files of an endpoint, or of a preset's two.
 *
 * @returns their paths
 * @throws InitError, and nothing is written; ConfigError, DataFault and ServiceError as of a start
 */
export async function init(
  request: InitRequest,
  environment: Environment,
  note: (line: string) => void,
): Promise<string[]> {
  const folder = environment['QUERIES_DIR'] || 'queries';
  const { preset, tenant: written, from } = request;
  if (request.name !== undefined && !NAME.test(request.name))
    throw new InitError('--name: a name is of letters, digits and . _ - and begins with a letter or digit.');
  if (preset !== undefined) {
    const { files, table } = await filesOfPreset(request, preset);
    return write(folder, files, table);
  }
  const table =
    from === undefined
      ? await localTable(request.what ?? '', environment, note)
      : await bigQueryTable(from, environment, note);
  const tenant = written === undefined ? null : tenantOf(table, written);
  const name = request.name ?? endpointName(table.name);
  const endpoint = rowsEndpoint(table, name, tenant);
  const sample = { table: sampleTable(table), rows: madeUpRows(table, endpoint.roles, tenant), file: null };
  const files = [
    { name: `${name}.sql`, text: endpoint.sql },
    { name: `${name}.test.yaml`, text: testFileText(table, sample, testsOfRows(endpoint, sample, tenant)) },
  ];
  // The wall between tenants needs types that do not depend on rows.
  const isOpen = tenant !== null && from === undefined && !table.declared;
  return write(folder, files, isOpen ? table : null);
}

async function filesOfPreset(
  { what, name, tenant: written }: InitRequest,
  preset: string,
): Promise<{ readonly files: readonly NewFile[]; readonly table: ShapedTable }> {
  const text = (await readFile(path.join(PRESETS, `${preset}.yaml`))).toString();
  const { fields, rows, units, countBy, about, daily, ...read } = presetSchema.parse(parse(text));
  const columns = columnsOf(parseRestSchema(fields, preset));
  const timeUnits = new Map(Object.entries(units));
  const table: ShapedTable = { name: what ?? read.table, columns, timeUnits, about, daily, partitions: null };
  const tenant = written === undefined ? null : tenantOf(table, written);
  const called = name ?? preset;
  const counts = `${called}.counts`;
  const file = `${called}.rows.ndjson`;
  const sample: Sample = { table: sampleTable(table), rows, file };
  const own = rowsEndpoint(table, called, tenant);
  const counted = countsEndpoint(table, counts, tenant, countBy);
  const files = [
    { name: `${called}.sql`, text: own.sql },
    { name: `${called}.test.yaml`, text: testFileText(table, sample, testsOfRows(own, sample, tenant)) },
    { name: `${counts}.sql`, text: counted.sql },
    { name: `${counts}.test.yaml`, text: testFileText(table, sample, testsOfCounts(counted, sample, tenant, countBy)) },
    { name: file, text: rows.map((row) => `${JSON.stringify(row)}\n`).join('') },
  ];
  return { files, table };
}

/** The table that rows of tests are in: of daily tables that of one day. */
function sampleTable({ name, daily }: ShapedTable): string {
  return daily ? name.replace(/\*$/, '20260102') : name;
}

const SCHEMA_FILE = 'schema.json';

/**
 * `schema.json` of the stored queries with one table more; null: it has that.
 *
 * @throws InitError where it has another table of this name
 */
async function withTable(folder: string, { name, columns, daily }: ShapedTable): Promise<string | null> {
  const file = path.join(folder, SCHEMA_FILE);
  const text = await readBounded(file, MOST_OF_LIST).then(String, (error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '{}';
    throw error;
  });
  let tables: unknown;
  try {
    tables = JSON.parse(text);
  } catch {
    throw new InitError(`${file} is not valid JSON.`);
  }
  const read = z.record(z.string(), z.unknown()).safeParse(tables);
  if (!read.success) throw new InitError(`${file} must be an object {"<table>": {"fields": [...]}}.`);
  const declared = daily ? name.replace(/_?\*$/, '') : name;
  const table = { open: true, fields: columns.map(restField) };
  const before = Object.hasOwn(read.data, declared) ? read.data[declared] : null;
  if (before === null) return `${JSON.stringify({ ...read.data, [declared]: table }, null, 2)}\n`;
  if (isDeepStrictEqual(before, JSON.parse(JSON.stringify(table)))) return null;
  throw new InitError(`${file} declares another table ${declared} already.`);
}

/**
 * Writes the files, unless one of them is there. After a fault of the disk those before it stay.
 *
 * @param table to be declared; null: none is
 * @throws InitError for files that are there
 */
async function write(folder: string, files: readonly NewFile[], table: ShapedTable | null): Promise<string[]> {
  const inFolder = (name: string): string => path.join(folder, name);
  const there = files.map(({ name }) => inFolder(name)).filter((file) => existsSync(file));
  if (there.length > 0) throw new InitError(`Nothing is overwritten, and there is already: ${there.join(', ')}.`);
  await mkdir(folder, { recursive: true });
  const schema = table === null ? null : await withTable(folder, table);
  // First: a stored query that a running service takes up needs its table.
  if (schema !== null) await replaceSchema(inFolder(SCHEMA_FILE), schema);
  for (const { name, text } of files) await writeFile(inFolder(name), text, { flag: 'wx' });
  return [...files.map(({ name }) => inFolder(name)), ...(schema === null ? [] : [inFolder(SCHEMA_FILE)])];
}

/** A running service reads the one or the other. Who may read it stays, and where a link leads. */
async function replaceSchema(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(ignoreMissing);
  const mode = target === undefined ? 0o644 : (await stat(target)).mode;
  await replaceFile(target ?? file, text, (draft) => draft.chmod(mode & 0o777));
}

/** A name as endpoints may have it. @throws InitError */
function endpointName(table: string): string {
  const name = table
    .replace(/_?\*$/, '')
    .replace(/[^A-Za-z0-9._-]/gu, '_')
    .replace(/^[^A-Za-z0-9]+/, '');
  if (name !== '') return name;
  throw new InitError(`Of ${table} no name can be made: give one with --name.`);
}

interface FoundTable extends ShapedTable {
  /** Whether its columns are declared. */
  readonly declared: boolean;
}

/** Bytes of a text that are read to see what its rows are like. */
const MOST_READ = 8 * 1024 * 1024;

/** A file, or a table of the embedded engine. @throws InitError */
async function localTable(what: string, environment: Environment, note: (line: string) => void): Promise<FoundTable> {
  const config = readConfig({ ...environment, ENGINE: 'duckdb' });
  if (!existsSync(what)) return lookUp(what, config);
  const folder = await mkdtemp(path.join(tmpdir(), 'logquay-init-'));
  try {
    const { dataDir } = config.duckdb;
    const relative = dataDir === null ? '' : path.relative(path.resolve(dataDir), path.resolve(what));
    const inside = dataDir !== null && relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
    const data = path.join(folder, 'data');
    const file = path.join(data, inside ? relative : path.basename(what));
    await mkdir(path.dirname(file), { recursive: true });
    const schema = path.join(dataDir ?? '', SCHEMA_FILE);
    if (dataDir !== null && existsSync(schema)) await copyFile(schema, path.join(data, SCHEMA_FILE));
    await takeHead(what, file);
    if (!inside) note(`${what} is not in DATA_DIR: the service serves it with DATA_DIR=${path.dirname(what)}.`);
    return await lookUp(null, {
      ...config,
      cacheDir: path.join(folder, 'cache'),
      duckdb: { ...config.duckdb, dataDir: data },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The beginning of a long text, whole lines of it; anything else as it is. */
async function takeHead(from: string, to: string): Promise<void> {
  const handle = await open(from);
  try {
    const { size } = await handle.stat();
    if (size <= MOST_READ || !/\.(?:ndjson|jsonl|log|txt|csv)$/.test(from)) {
      await symlink(path.resolve(from), to);
      return;
    }
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_READ), 0, MOST_READ, 0);
    await writeFile(to, buffer.subarray(0, buffer.lastIndexOf(10, bytesRead - 1) + 1));
  } finally {
    await handle.close();
  }
}

/** @param name null: the one that has a file. @throws InitError */
async function lookUp(name: string | null, config: Config): Promise<FoundTable> {
  const engine = await openEngine(config, { current: () => [] }, openLog('silent', process.stderr));
  try {
    await engine.opened;
    const known = engine.dataStatus?.()?.tables ?? [];
    const table = name ?? known.find(({ files }) => files > 0)?.table;
    if (table === undefined) throw new InitError('The file has no name of a table that is read (docs/data.md).');
    const found = await shapeOf(engine, table);
    const declared = known.find((one) => one.table === table)?.declared ?? true;
    return { ...found, about: `Rows of ${table}.`, declared };
  } finally {
    await engine.close();
  }
}

/** @throws InitError */
async function shapeOf(engine: Engine, table: string): Promise<Omit<ShapedTable, 'about'>> {
  const limits = { deadline: performance.now() + 30_000, signal: new AbortController().signal };
  const { schemas, names, partitions } = await engine.tables([[table]], limits);
  const schema = schemas.get(table);
  if (schema === undefined || schema.columns.length === 0) {
    const { nearest } = await import('@logquay/googlesql');
    const near = nearest(table, names);
    const hint = near === undefined ? `There are ${names.slice(0, 20).join(', ') || 'none'}.` : `Did you mean ${near}?`;
    throw new InitError(`There is no table ${table} with columns. ${hint}`);
  }
  return { ...schema, name: table, daily: table.endsWith('_*'), partitions: partitions?.get(table) ?? null };
}

/** @throws InitError */
async function bigQueryTable(
  from: string,
  environment: Environment,
  note: (line: string) => void,
): Promise<FoundTable> {
  const [, dataset = '', table = ''] = /^bigquery:([\w-]+)\.([\w*-]+)$/.exec(from) ?? [];
  if (table === '') throw new InitError(`--from: allowed is bigquery:DATASET.TABLE, not ${from}.`);
  const own = environment['BIGQUERY_DATASET'] || dataset;
  const config = readConfig({ ...environment, ENGINE: 'bigquery', BIGQUERY_DATASET: own });
  const engine = await openEngine(
    { ...config, sandboxDryRun: false },
    { current: () => [] },
    openLog('silent', process.stderr),
  );
  try {
    // Without a data set the same text runs over the tables of tests.
    const path = own === dataset ? table : `${dataset}.${table}`;
    if (own === dataset) note(`Tables without a data set are those of BIGQUERY_DATASET: ${dataset}.`);
    return { ...(await shapeOf(engine, path)), about: `Rows of ${path}.`, declared: true };
  } finally {
    await engine.close();
  }
}
