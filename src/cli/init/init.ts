/** Writes stored queries over a table that is there, or over one of a known shape (docs/endpoints.md). */
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { parse } from 'yaml';
import { z } from 'zod';

import type { Engine } from '@logquay/duckdb-engine/contract';
import { ignoreMissing, MOST_OF_LIST, readBounded, replaceFile, systemCode } from '@logquay/duckdb-engine/files';
import {
  columnsOf,
  type NamedType,
  parseRestSchema,
  rolesOf,
  type SqlType,
  TIME_UNITS,
} from '@logquay/googlesql/types';
import { openEngine } from '../../app';
import { type Config, readConfig } from '../../config';
import { SAMPLES_ALONE } from '../check-against';
import { openLog } from '../../log';
import { countsEndpoint, InitError, rowsEndpoint, type ShapedTable, type Tenant, tenantOf } from './endpoint-text';
import {
  madeUpRows,
  restField,
  type Sample,
  testFileText,
  testsOfCounts,
  testsOfRows,
  withTenants,
} from './sample-rows';

export interface InitRequest {
  /** A file, or the name of a table; of a preset the table that it is to be read from. */
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

/** What is to be written. */
interface Plan {
  readonly files: readonly NewFile[];
  /** To be declared; null: none is. */
  readonly declares: ShapedTable | null;
  /** Names. */
  readonly endpoints: readonly string[];
  readonly tenant: Tenant | null;
}

/** What has been written. */
export interface Written extends Pick<Plan, 'endpoints' | 'tenant'> {
  /** Paths. */
  readonly files: readonly string[];
}

/**
 * Writes the files of an endpoint, or of a preset's two.
 *
 * @throws InitError, and nothing is written; ConfigError, DataFault and ServiceError as of a start
 */
export async function init(
  request: InitRequest,
  environment: Environment,
  note: (line: string) => void,
): Promise<Written> {
  const folder = environment['QUERIES_DIR'] || 'queries';
  const { preset } = request;
  if (request.name !== undefined && !NAME.test(request.name))
    throw new InitError('--name: a name is of letters, digits and . _ - and begins with a letter or digit.');
  const plan =
    preset === undefined
      ? await planOfTable(request, environment, note)
      : await planOfPreset(request, preset, environment, note);
  return { ...plan, files: await write(folder, plan.files, plan.declares) };
}

async function planOfTable(
  { what = '', from, name: called, tenant: written }: InitRequest,
  environment: Environment,
  note: (line: string) => void,
): Promise<Plan> {
  const table =
    from === undefined ? await localTable(what, environment, note) : await bigQueryTable(from, environment, note);
  const tenant = written === undefined ? null : tenantOf(table, written);
  const name = called ?? endpointName(table.name);
  const endpoint = rowsEndpoint(table, name, tenant);
  const sample = { table: sampleTable(table), rows: madeUpRows(table, endpoint.roles, tenant), file: null };
  const files = [
    { name: `${name}.sql`, text: endpoint.sql },
    { name: `${name}.test.yaml`, text: testFileText(table, sample, testsOfRows(endpoint, sample, tenant)) },
  ];
  // The wall between tenants needs types that do not depend on rows.
  const isOpen = tenant !== null && from === undefined && !table.declared;
  return { files, declares: isOpen ? table : null, endpoints: [name], tenant };
}

async function planOfPreset(
  { what, name, tenant: written }: InitRequest,
  preset: string,
  environment: Environment,
  note: (line: string) => void,
): Promise<Plan> {
  const text = (await readFile(path.join(PRESETS, `${preset}.yaml`))).toString();
  const { fields, rows, units, countBy, about, daily, ...read } = presetSchema.parse(parse(text));
  const columns = columnsOf(parseRestSchema(fields, preset));
  const roles = rolesOf(columns, {}, new Map(Object.entries(units)));
  const asked = what ?? read.table;
  const found = await tableWithRows(asked, preset, environment, note);
  if (found !== null && !found.declared) {
    const names = columns
      .map((column) => column.name)
      .filter((column) => rows.every((row) => Object.hasOwn(row, column)));
    const time = columns.find((column) => column.name === roles.time?.path[0]);
    const misfit = misfitOf(found, names, time);
    if (misfit !== null)
      throw new InitError(
        `--preset ${preset} does not fit ${asked}. The preset: ${about} ${misfit} Run "logquay init ${asked}" without --preset.`,
      );
  }
  const table: ShapedTable = {
    name: found?.name ?? asked,
    columns: found === null ? columns : united(columns, found.columns),
    roles,
    about,
    daily,
    partitions: null,
  };
  const none = found === null ? ' With rows of the table in DATA_DIR it may be a field of theirs.' : '';
  const tenant = written === undefined ? null : tenantOf(table, written, none);
  const called = name ?? (what === undefined ? preset : endpointName(table.name));
  const counts = `${called}.counts`;
  const file = `${called}.rows.ndjson`;
  const sample: Sample = { table: sampleTable(table), rows: withTenants(rows, table, tenant), file };
  const own = rowsEndpoint(table, called, tenant);
  const counted = countsEndpoint(table, counts, tenant, countBy);
  const files = [
    { name: `${called}.sql`, text: own.sql },
    { name: `${called}.test.yaml`, text: testFileText(table, sample, testsOfRows(own, sample, tenant)) },
    { name: `${counts}.sql`, text: counted.sql },
    { name: `${counts}.test.yaml`, text: testFileText(table, sample, testsOfCounts(counted, sample, tenant, countBy)) },
    { name: file, text: sample.rows.map((row) => `${JSON.stringify(row)}\n`).join('') },
  ];
  return { files, declares: table, endpoints: [called, counts], tenant };
}

/** The table that a preset is for, as it is; null: nobody has written rows of it yet. */
async function tableWithRows(
  what: string,
  preset: string,
  environment: Environment,
  note: (line: string) => void,
): Promise<FoundTable | null> {
  if (!environment['DATA_DIR'] && !isPath(what)) {
    note(`DATA_DIR is not set: the columns of --preset ${preset} are not compared with those of rows.`);
    return null;
  }
  try {
    return await localTable(what, environment, note);
  } catch (error) {
    if (error instanceof UnknownTable) return null;
    throw error;
  }
}

/**
 * Why rows are not of a preset's form; null: they are.
 *
 * @param names columns that all rows of the preset have
 * @param time that of its rows
 */
function misfitOf(
  { name, columns }: ShapedTable,
  names: readonly string[],
  time: NamedType | undefined,
): string | null {
  const kinds = new Map(columns.map((column) => [column.name.toLowerCase(), column.type.kind]));
  const shared = names.filter((one) => kinds.has(one.toLowerCase()));
  const kind = time === undefined ? 'STRING' : kinds.get(time.name.toLowerCase());
  // A text may be a time of any type.
  const isTimed = kind === 'STRING' || kind === time?.type.kind;
  if (isTimed && shared.length * 2 >= names.length) return null;
  const needed = time === undefined ? '' : `${time.name} (${time.type.kind}) and `;
  const there = columns.map((column) => `${column.name} (${column.type.kind})`).join(', ');
  return `It needs ${needed}at least half of ${names.join(', ')}; ${name} has ${there}.`;
}

/** Columns with those of others beside them, also in records. */
function united(own: readonly NamedType[], others: readonly NamedType[]): readonly NamedType[] {
  const sameName = (a: NamedType) => (b: NamedType) => a.name.toLowerCase() === b.name.toLowerCase();
  return [
    ...own.map((column) => {
      const other = others.find(sameName(column));
      return other === undefined ? column : { ...column, type: unitedType(column.type, other.type) };
    }),
    ...others.filter((other) => other.name !== '_rest' && !own.some(sameName(other))),
  ];
}

function unitedType(own: SqlType, other: SqlType): SqlType {
  if (own.kind === 'ARRAY' && other.kind === 'ARRAY')
    return { kind: 'ARRAY', element: unitedType(own.element, other.element) };
  if (own.kind !== 'STRUCT' || other.kind !== 'STRUCT') return own;
  const named = (fields: typeof own.fields): readonly NamedType[] =>
    fields.map((field) => ({ ...field, name: field.name ?? '' }));
  return { ...own, fields: united(named(own.fields), named(other.fields)) };
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

/** No table has this name, or no row of it is there. */
class UnknownTable extends InitError {}

interface FoundTable extends ShapedTable {
  /** Whether its columns are declared. */
  readonly declared: boolean;
}

/** Bytes of a text that are read to see what its rows are like. */
const MOST_READ = 8 * 1024 * 1024;

/** Whether a file is meant, and no table: a folder here may have the name of one, such as `app`. */
function isPath(what: string): boolean {
  const found = statSync(what, { throwIfNoEntry: false });
  return found !== undefined && (found.isFile() || what.includes(path.sep));
}

/** A file, or a table of the embedded engine. @throws InitError */
async function localTable(what: string, environment: Environment, note: (line: string) => void): Promise<FoundTable> {
  const config = readConfig({ ...environment, ENGINE: 'duckdb' });
  if (!isPath(what)) return lookUp(what, config);
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
    const found = await shapeOf(engine, table, config.duckdb.dataDir === null ? ` ${SAMPLES_ALONE}` : '');
    const declared = known.find((one) => one.table === table)?.declared ?? true;
    return { ...found, about: `Rows of ${table}.`, declared };
  } finally {
    await engine.close();
  }
}

/**
 * @param where behind what is said of a table that is not there
 * @throws UnknownTable
 */
async function shapeOf(engine: Engine, table: string, where = ''): Promise<Omit<ShapedTable, 'about'>> {
  const limits = { deadline: performance.now() + 30_000, signal: new AbortController().signal };
  const { schemas, names, partitions } = await engine.tables([[table]], limits);
  const schema = schemas.get(table);
  if (schema === undefined || schema.columns.length === 0) {
    const { nearest } = await import('@logquay/googlesql');
    const near = nearest(table, names);
    const hint = near === undefined ? `There are ${names.slice(0, 20).join(', ') || 'none'}.` : `Did you mean ${near}?`;
    throw new UnknownTable(`There is no table ${table} with columns. ${hint}${where}`);
  }
  const roles = rolesOf(schema.columns, {}, schema.timeUnits);
  return { ...schema, roles, name: table, daily: table.endsWith('_*'), partitions: partitions?.get(table) ?? null };
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
