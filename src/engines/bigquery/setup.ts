/** `logquay setup-bigquery`: prints the DDL of a project for the service, and runs it with `--apply`. */
import type { RestField } from '@logquay/googlesql/types';
import { LOG_SCHEMA } from '../log-schema';
import { ApiFailure } from './api-failure';
import { queryPages } from './job';
import { quotePath } from './stub';
import { Transport } from './transport';

/** The DDL of a project that the service reads: the data set, its tables or views, and the least right to read them. */

export interface SetupOptions {
  readonly project: string;
  readonly dataset: string;
  /** null: BigQuery's default, which cannot be changed later. */
  readonly location: string | null;
  /** Address of the account that the service runs as; null: nobody is granted anything. */
  readonly serviceAccount: string | null;
  /** Days after which a partition is dropped; null: never. */
  readonly keepDays: number | null;
  /** Views on logs elsewhere: their own path, by the name of the view. */
  readonly views: ReadonlyMap<string, readonly string[]>;
  /** Whether there are the log tables of which no view is made. */
  readonly logTables: boolean;
}

/** The names that `--view` takes. */
export const SETUP_TABLES: readonly string[] = [...LOG_SCHEMA.keys()];

/** Each can be run again without harm. */
export function setupStatements(options: SetupOptions): readonly string[] {
  const { project, dataset, location, serviceAccount, views, logTables } = options;
  const home = quotePath([project, dataset]);
  const schema = `CREATE SCHEMA IF NOT EXISTS ${home}${location === null ? '' : ` OPTIONS (location = ${text(location)})`}`;
  const names = new Set([...(logTables ? SETUP_TABLES : []), ...views.keys()]);
  const tables = [...names].map((name) => {
    const elsewhere = views.get(name);
    return elsewhere === undefined
      ? tableText(options, name, LOG_SCHEMA.get(name) ?? [])
      : viewText(options, name, elsewhere);
  });
  // Nothing but reading, on this data set alone. The right to run queries at all belongs to the project (rolesNote).
  if (serviceAccount === null) return [schema, ...tables];
  const member = text(`serviceAccount:${serviceAccount}`);
  return [schema, ...tables, `GRANT ${quotePath(['roles/bigquery.dataViewer'])} ON SCHEMA ${home} TO ${member}`];
}

function tableText({ project, dataset, keepDays }: SetupOptions, name: string, fields: readonly RestField[]): string {
  const columns = fields.map((field) => `  ${columnText(field, '  ')}`);
  // Only a column of its own can cluster: some logs have the project inside their metadata alone.
  const isClustered = fields.some((field) => field.name === 'project' && field.mode !== 'REPEATED');
  return [
    `CREATE TABLE IF NOT EXISTS ${quotePath([project, dataset, name])} (`,
    columns.join(',\n'),
    ')',
    'PARTITION BY DATE(`timestamp`)',
    ...(isClustered ? ['CLUSTER BY `project`'] : []),
    ...(keepDays === null ? [] : [`OPTIONS (partition_expiration_days = ${keepDays})`]),
  ].join('\n');
}

/**
 * Every column that the table behind has: Logflare's have those alone that were ever sent. A filter on the bare partition column goes
 * through such a view to the table, which may require one.
 */
function viewText({ project, dataset }: SetupOptions, name: string, elsewhere: readonly string[]): string {
  return `CREATE OR REPLACE VIEW ${quotePath([project, dataset, name])} AS\nSELECT *\nFROM ${quotePath(elsewhere)}`;
}

function columnText(field: RestField, indent: string): string {
  const notNull = field.mode === 'REQUIRED' ? ' NOT NULL' : '';
  return `${quotePath([field.name])} ${typeText(field, indent)}${notNull}`;
}

function typeText(field: RestField, indent: string): string {
  const deeper = `${indent}  `;
  const members = field.fields.map((one) => `${deeper}${columnText(one, deeper)}`).join(',\n');
  const item = field.type === 'RECORD' ? `STRUCT<\n${members}\n${indent}>` : field.type;
  return field.mode === 'REPEATED' ? `ARRAY<${item}>` : item;
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** A command that cannot be carried out; its message is for the one who typed it. */
class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** An option's value is not allowed. */
export class SetupOptionError extends Error {
  override readonly name = 'SetupOptionError';
}

/** What the command is asked for, as it was typed. */
export interface SetupRequest {
  readonly project?: string | undefined;
  readonly dataset?: string | undefined;
  readonly location?: string | undefined;
  readonly serviceAccount?: string | undefined;
  readonly keepDays?: string | undefined;
  /** `TABLE=project.dataset.table` each. */
  readonly view?: readonly string[] | undefined;
  /** Views of any name, by name: with them no log table is made. */
  readonly sourceViews?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Runs the statements instead of printing them. */
  readonly apply?: boolean | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SetupOptionError before anything is done; SetupError for what BigQuery refuses */
export async function runSetup(
  request: SetupRequest,
  environment: Environment,
  print: (line: string) => void,
): Promise<void> {
  const options = readOptions(request, environment);
  const statements = setupStatements(options);
  if (request.apply !== true) {
    print(`${statements.join(';\n\n')};\n`);
    print(rolesNote(options));
    return;
  }
  const transport = openTransport(options, environment);
  for (const statement of statements) {
    const [title = ''] = statement.split('\n');
    await execute(transport, statement, options.location).catch((error: unknown) => {
      const words = error instanceof ApiFailure ? error.detail || error.message : String(error);
      throw new SetupError(`${title}\nBigQuery: ${words}`);
    });
    print(`done: ${title}`);
  }
  print(rolesNote(options));
}

/** Milliseconds that one statement may take. */
const STATEMENT_TIME = 120_000;

async function execute(transport: Transport, statement: string, location: string | null): Promise<void> {
  const body = {
    query: statement,
    useLegacySql: false,
    parameterMode: 'NAMED',
    queryParameters: [],
    // DDL reads nothing; this is the least that BigQuery bills.
    maximumBytesBilled: String(10 * 1024 * 1024),
    labels: { kind: 'setup' },
    ...(location !== null && { location }),
  } as const;
  const limits = { deadline: performance.now() + STATEMENT_TIME, signal: new AbortController().signal };
  const detach = (work: Promise<unknown>): void => void work.catch(() => undefined);
  const pages = queryPages({ transport, detach }, body, { maxRows: 1, mostPerPage: 1 }, limits);
  while ((await pages.next()).done !== true);
}

/** What no SQL statement can do, as comments, so that the whole output can be pasted. */
function rolesNote({ project, dataset, serviceAccount, views }: SetupOptions): string {
  const account = serviceAccount ?? 'EMAIL';
  const lines = [
    'The right to run queries in the project, which no SQL statement gives:',
    `  gcloud projects add-iam-policy-binding ${project} --member=serviceAccount:${account} --role=roles/bigquery.jobUser --condition=None`,
    'The account needs no other role: above all none that reads more data sets, or writes.',
    ...[...views].map(
      ([table, path]) =>
        `Authorise the view ${project}.${dataset}.${table} on the data set ${path.slice(0, -1).join('.')}, ` +
        'so that the account needs no right there.',
    ),
  ];
  return lines.map((line) => `-- ${line}`).join('\n');
}

function readOptions(request: SetupRequest, environment: Environment): SetupOptions {
  const project = request.project ?? environment['BIGQUERY_PROJECT_ID'] ?? '';
  const dataset = request.dataset ?? (environment['BIGQUERY_DATASET'] || 'logs');
  const location = request.location ?? (environment['BIGQUERY_LOCATION'] || null);
  const serviceAccount = request.serviceAccount ?? null;
  check(/^[a-z0-9.:-]{1,100}$/i.test(project), '--project: a Google Cloud project id is needed.');
  check(/^\w{1,1024}$/.test(dataset), '--dataset: allowed are letters, digits and _.');
  check(location === null || /^[a-z0-9-]{1,64}$/i.test(location), '--location: such as EU or europe-west3.');
  check(
    serviceAccount === null || /^[\w.-]+@[\w.-]+$/.test(serviceAccount),
    '--service-account: an address is needed.',
  );
  const days = request.keepDays;
  check(days === undefined || /^[1-9]\d{0,4}$/.test(days), '--keep-days: a number of days from 1 to 99999.');
  const keepDays = days === undefined ? null : Number(days);
  const views = new Map([...(request.sourceViews ?? []), ...(request.view ?? []).map(readView)]);
  const logTables = request.sourceViews === undefined;
  return { project, dataset, location, serviceAccount, keepDays, views, logTables };
}

function readView(given: string): readonly [string, readonly string[]] {
  const [, table = '', path = ''] = /^(\w+)=`?([\w:-]+\.\w+\.[\w-]+)`?$/.exec(given) ?? [];
  check(table !== '', `--view ${given}: TABLE=project.dataset.table is needed.`);
  check(SETUP_TABLES.includes(table), `--view ${table}: the tables are ${SETUP_TABLES.join(', ')}.`);
  return [table, path.split('.')];
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new SetupOptionError(message);
}

function openTransport({ project }: SetupOptions, environment: Environment): Transport {
  const host = environment['BIGQUERY_EMULATOR_HOST'];
  return new Transport({
    projectId: project,
    emulator: host ? `${/^https?:/.test(host) ? '' : 'http://'}${host.replace(/\/$/, '')}` : null,
    credentials: environment['GOOGLE_APPLICATION_CREDENTIALS'] || null,
    observer: { succeeded: () => undefined, failed: () => undefined },
  });
}
