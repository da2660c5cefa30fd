/**
 * Non-interference over the endpoints that `logquay init` writes for known shapes: two folders that differ only in rows of other
 * tenants, with values that fail, answer every request of a pinned key alike.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { columnsOf, parseRestSchema } from '../../packages/googlesql/src/rest-schema';
import type { StructField } from '../../packages/googlesql/src/types';
import { readDefinition } from '../../src/endpoints/definition';
import { hashOf } from '../../src/keys/key';
import { logquay } from '../cli/command-line';
import { TENANTS } from '../cli/presets';
import { localBigQueryInstalled, type LocalBigQuery, startLocalBigQuery } from '../local-bigquery';
import { Stage } from '../process/started';
import { Random } from '../sandbox/fuzz/random';
import { COMMIT_SEED, LONG } from '../scale';
import type { TenantRequest } from './requests/request';
import { answersOf, difference, outcomeOf } from './run/answer';
import { describeFound, Report } from './run/report';
import type { Services } from './run/services';

jest.setTimeout(LONG ? 3_600_000 : 300_000);

const ROWS = 30;
const REQUESTS = { duckdb: LONG ? 2000 : 250, bigquery: LONG ? 2000 : 0 };

type Row = Record<string, unknown>;

/** A field without lists around it: its path, and what can be asked of it. */
interface Leaf {
  readonly path: string;
  readonly kind: string;
}

interface Preset {
  readonly name: string;
  readonly cte: string;
  readonly parameter: string;
  readonly own: string;
  /** In a folder of data. */
  readonly file: string;
  readonly rows: readonly Row[];
  readonly leaves: readonly Leaf[];
  readonly schema: object;
  readonly tenant: readonly string[];
}

const stage = new Stage();
const locals: LocalBigQuery[] = [];
afterAll(async () => {
  await stage.end();
  await Promise.all(locals.map((local) => local.stop()));
});

function leavesOf(fields: readonly StructField[], before = ''): Leaf[] {
  return fields.flatMap(({ name, type }): Leaf[] => {
    const at = `${before}${name ?? ''}`;
    if (type.kind === 'STRUCT') return leavesOf(type.fields, `${at}.`);
    return type.kind === 'ARRAY' ? [] : [{ path: at, kind: type.kind }];
  });
}

const valueAt = (row: Row, names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (inner as Row | undefined)?.[name], row);

function withTenant(row: Row, [name = '', ...rest]: readonly string[], value: string): Row {
  return { ...row, [name]: rest.length === 0 ? value : withTenant((row[name] ?? {}) as Row, rest, value) };
}

/** Writes the endpoints of all presets, each with its tenant. */
async function writeEndpoints(queries: string): Promise<Preset[]> {
  const presets: Preset[] = [];
  for (const [name, tenant] of Object.entries(TENANTS)) {
    const { code, notes } = await logquay(['init', '--preset', name, '--tenant', tenant], { QUERIES_DIR: queries });
    expect({ name, code, notes }).toMatchObject({ name, code: 0 });
    const source = readFileSync(path.join(__dirname, `../../src/cli/init/presets/${name}.yaml`), 'utf8');
    const { fields, rows, table } = parse(source) as { fields: object[]; rows: Row[]; table: string };
    const { endpoint } = readDefinition(readFileSync(path.join(queries, `${name}.sql`)));
    const names = tenant.split('.');
    presets.push({
      name,
      cte: endpoint?.cteTables[0] ?? '',
      parameter: endpoint?.parameters[0]?.name ?? '',
      own: String(valueAt(rows[0] ?? {}, names)),
      file: table.replace('*', '20260102'),
      rows,
      leaves: leavesOf(columnsOf(parseRestSchema(fields, name))).filter((leaf) => leaf.path !== tenant),
      schema: { fields },
      tenant: names,
    });
  }
  return presets;
}

const TEXTS = ['', 'x', 'NaN', '1e999', '-1', '{"a":', '2026-13-99', '(', 'secret', '9223372036854775808'];
const NUMBERS = [0, 1, -1, 7, 9007199254740991];

/** Other values in some of the leaves, of the same kinds in JSON; or, where it is hostile, of any. */
function varied(value: unknown, random: Random, hostile: boolean): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => varied(one, random, hostile));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, varied(inner, random, hostile)]));
  }
  // What says when a row was stays a time, mostly.
  if (random.chance(typeof value === 'string' && /^2026/.test(value) ? 90 : 50)) return value;
  const isText = typeof value === 'string' && !/^2026/.test(value);
  if (hostile && random.chance(5)) return random.pick([{ deep: [1] }, ['x'], true, 'no number', 0]);
  return isText ? random.pick(TEXTS) : typeof value === 'number' && value < 1e9 ? random.pick(NUMBERS) : value;
}

/**
 * The lines of a table: own rows in the same order in each folder, others' anywhere between them.
 *
 * @param anyForm whether rows may have further fields and values of other kinds, which BigQuery takes into no table
 */
function linesOf(
  { rows, tenant, own, name }: Preset,
  others: 'none' | 'harmless' | 'hostile',
  { seed, anyForm }: { readonly seed: number; readonly anyForm: boolean },
): string {
  const ownRandom = new Random(seed);
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const row = varied(ownRandom.pick(rows), ownRandom, false) as Row;
    const more = anyForm && ownRandom.chance(20) ? { extra: String(i) } : {};
    return JSON.stringify(withTenant({ ...row, ...more }, tenant, own));
  });
  const random = new Random(seed + others.length + name.length);
  for (let i = 0; others !== 'none' && i < 4 * ROWS; i++) {
    const row = varied(random.pick(rows), random, anyForm && others === 'hostile') as Row;
    const more =
      anyForm && others === 'hostile' && random.chance(30) ? { extra: random.pick(TEXTS), [`f${String(i)}`]: i } : {};
    const line = JSON.stringify(withTenant({ ...row, ...more }, tenant, random.pick(['other', `${own}x`, ''])));
    lines.splice(random.below(lines.length + 1), 0, line);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Expressions of which some fail on some values. */
function expression({ path: at, kind }: Leaf, random: Random): string {
  const f = `t.${at}`;
  switch (kind) {
    case 'STRING':
      return random.pick([`CAST(${f} AS INT64)`, `PARSE_JSON(${f})`, `LENGTH(${f})`, `CAST(${f} AS TIMESTAMP)`, f]);
    case 'INT64':
      return random.pick([`DIV(10, ${f})`, `${f} * 9223372036854775807`, `100 / (${f} - 7)`, `-${f}`, f]);
    case 'FLOAT64':
      return random.pick([`SQRT(${f})`, `1 / ${f}`, `CAST(${f} AS INT64)`, f]);
    case 'TIMESTAMP':
      return random.pick([`TIMESTAMP_ADD(${f}, INTERVAL 69900000 HOUR)`, `UNIX_MICROS(${f})`, f]);
    case 'JSON':
      return random.pick([`INT64(${f}.id)`, `JSON_VALUE(${f}, '$.app')`, `LAX_INT64(${f}.statusCode)`]);
    default:
      return `CAST(${f} AS STRING)`;
  }
}

function sqlOf({ cte, leaves }: Preset, random: Random): string {
  const one = (): string => expression(random.pick(leaves), random);
  const from = `FROM ${cte} AS t`;
  const where = random.chance(60) ? ` WHERE ${one()} IS NOT NULL` : '';
  return random.pick([
    `SELECT ${one()} AS x ${from}${where}`,
    `SELECT COUNT(*) AS n, MAX(${one()}) AS m ${from}${where}`,
    `SELECT TO_JSON_STRING(${one()}) AS k, COUNT(*) AS n ${from}${where} GROUP BY k`,
    `SELECT ${one()} AS x ${from}${where} ORDER BY 1 LIMIT 3`,
    `SELECT (SELECT COUNT(${one()}) ${from}) AS n`,
    `SELECT IF(${one()} IS NULL, 1, 0) AS x ${from} JOIN ${cte} AS u ON TRUE LIMIT 5`,
  ]);
}

function lqlOf({ leaves }: Preset, random: Random): string {
  const clauses = Array.from({ length: 1 + random.below(2) }, () => {
    const { path: at, kind } = random.pick(leaves);
    const minus = random.chance(20) ? '-' : '';
    if (random.chance(30)) return `${minus}${random.pick(['payment', 'queue', 'GET', 'secret'])}`;
    if (kind === 'STRING') return `${minus}${at}:${random.pick(['~"^[a-m]"', 'x', 'NULL', '"NaN"'])}`;
    if (kind === 'INT64' || kind === 'FLOAT64') return `${minus}${at}:${random.pick(['>100', '0', '<0', 'NULL'])}`;
    return `${minus}${at}:NULL`;
  });
  return `${clauses.join(' ')}${random.chance(25) ? ' c:count(*) c:group_by(t::hour)' : ''}`;
}

function requestOf(presets: readonly Preset[], random: Random): TenantRequest {
  const preset = random.pick(presets);
  const roll = random.below(100);
  const kind = roll < 60 ? 'sql' : roll < 75 ? 'lql' : 'stored';
  const endpoint = kind === 'stored' && random.chance(50) ? `${preset.name}.counts` : preset.name;
  const analyzed = kind !== 'stored' && random.chance(8);
  const bounds: Record<string, string> = random.chance(30)
    ? { iso_timestamp_start: '2026-01-02T10:00:00.5Z', iso_timestamp_end: '2026-01-02T11:40:00Z' }
    : {};
  const pinned: Record<string, string> = random.chance(40)
    ? { [preset.parameter]: random.pick([preset.own, preset.own, 'other']) }
    : {};
  const query: Record<string, string> =
    kind === 'sql' ? { sql: sqlOf(preset, random) } : kind === 'lql' ? { lql: lqlOf(preset, random) } : {};
  return {
    kind,
    key: 'project',
    method: analyzed || random.chance(50) ? 'GET' : 'POST',
    path: `/api/endpoints/${analyzed ? 'analyze' : 'query'}/${endpoint}`,
    tool: null,
    parameters: { ...bounds, ...pinned, ...query },
    headers: {
      Accept: random.pick(['application/json', 'text/csv', 'application/x-ndjson']),
      ...(analyzed ? { Accept: 'application/json' } : {}),
    },
    // Rows of one time have no order among them.
    ordered: false,
    again: 'no',
    places: [kind],
    kinds: [],
  };
}

for (const engine of ['duckdb', 'bigquery'] as const) {
  // `npm run test:long -- tenants` asks the local BigQuery, too, where it is installed.
  if (REQUESTS[engine] === 0) continue;
  const available = engine === 'duckdb' || localBigQueryInstalled;
  (available ? it : it.skip)(`a pinned key sees its tenant alone, on ${engine}`, async () => {
    const root = stage.folder();
    const queries = path.join(root, 'queries');
    const presets = await writeEndpoints(queries);
    const secretOf = ({ path: at }: TenantRequest): string => at.replace(/^.*\/|\.counts$/g, '');
    const keys = presets.map(({ name, parameter, own }) => ({
      name,
      hash: hashOf(name).toString('hex'),
      endpoints: [name, `${name}.counts`],
      pins: { [parameter]: own },
    }));
    const keysFile = path.join(root, 'keys.json');
    writeFileSync(keysFile, JSON.stringify({ keys }));
    const start = async (others: (preset: number) => 'none' | 'harmless' | 'hostile'): Promise<string> => {
      const folder = stage.folder();
      const data = path.join(folder, 'data');
      mkdirSync(data);
      for (const [i, preset] of presets.entries())
        writeFileSync(
          path.join(data, `${preset.file}.ndjson`),
          linesOf(preset, others(i), { seed: COMMIT_SEED + i, anyForm: engine === 'duckdb' }),
        );
      const settings: Record<string, string> = { DATA_DIR: data, DUCKDB_THREADS: '1' };
      if (engine === 'bigquery') {
        const schemas = presets.map(({ file, schema }) => [file, schema] as const);
        writeFileSync(path.join(data, 'schema.json'), JSON.stringify(Object.fromEntries(schemas)));
        const local = await startLocalBigQuery(['--data', data, '--eager']);
        locals.push(local);
        Object.assign(settings, {
          DATA_DIR: '',
          BIGQUERY_EMULATOR_HOST: local.host,
          BIGQUERY_PROJECT_ID: 'test',
          BIGQUERY_DATASET: 'logs',
        });
      }
      const common = { KEYS_FILE: keysFile, QUERIES_DIR: queries, HOST: '127.0.0.1', CLOCK: '2026-01-03T00:00:00Z' };
      const started = stage.start({ ...settings, ...common, CACHE_DIR: path.join(folder, 'cache') }, folder);
      await started.ready();
      return started.base();
    };
    const bases = await Promise.all([
      start((i) => (i % 2 === 0 ? 'hostile' : 'none')),
      start((i) => (i % 2 === 0 ? 'harmless' : 'hostile')),
    ]);
    const services: Services = {
      bases,
      secretOf,
      foreignOf: () => null,
      reasonOf: () => Promise.resolve(''),
      grow: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    const report = new Report();
    const random = new Random(COMMIT_SEED);
    let left = REQUESTS[engine];
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const request = requestOf(presets, random);
        const [[a], [b]] = await Promise.all([answersOf(request, services, 0), answersOf(request, services, 1)]);
        if (a === undefined || b === undefined) throw new Error('There is no answer.');
        report.note(request, outcomeOf(a), a);
        const aspect = difference(request, a, b);
        if (aspect !== null) report.differed({ aspect, request, answers: [a, b], seed: COMMIT_SEED });
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    process.stdout.write(`${[...report.lines(), ...report.found.slice(0, 3).flatMap(describeFound)].join('\n')}\n`);
    expect(report.differences).toBe(0);
    expect(report.failures.size).toBe(0);
    expect(report.accepted).toBeGreaterThan(0.6);
    expect(report.outcomes.get('rows')).toBeGreaterThan(REQUESTS[engine] / 4);
  });
}
