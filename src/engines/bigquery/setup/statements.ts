/** The DDL of a project that the service reads: the data set, its tables or views, and the least right to read them. */
import type { RestField } from '../../../googlesql/rest-schema';
import { LOG_SCHEMA } from '../../log-schema';
import { quotePath } from '../stub';

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
