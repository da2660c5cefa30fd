import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A row of a raw table, as far as the stored queries look at it. */
export interface LogRow {
  readonly timestamp: string;
  readonly id: string;
  readonly event_message: string | null;
  readonly project?: string | null;
  readonly metadata?: readonly (Metadata | null)[] | null;
}

export interface Metadata {
  readonly project?: string | null;
  readonly project_ref?: string | null;
  readonly request?: readonly { readonly path?: string | null; readonly url?: string | null }[] | null;
}

/** The tables of logs.all, and where each keeps the project. */
export const PROJECT_OF: Readonly<Record<string, (row: LogRow) => readonly (string | null | undefined)[]>> = {
  edge_logs: rowProject,
  postgres_logs: rowProject,
  auth_logs: rowProject,
  postgrest_logs: rowProject,
  pgbouncer_logs: rowProject,
  function_edge_logs: (row) => elements(row).map(({ project_ref }) => project_ref),
  function_logs: (row) => elements(row).map(({ project_ref }) => project_ref),
  realtime_logs: (row) => elements(row).map(({ project }) => project),
  storage_logs: (row) => elements(row).map(({ project }) => project),
};

function rowProject({ project }: LogRow): (string | null | undefined)[] {
  return [project];
}

export function elements({ metadata }: LogRow): readonly Metadata[] {
  return (metadata ?? []).filter((element) => element !== null);
}

/** Rows that a filter written as a join multiplies or drops, and rows with as little in them as can be. */
function oddRows(table: string): LogRow[] {
  const inRow = PROJECT_OF[table] === rowProject;
  const named = table.startsWith('function') ? 'project_ref' : 'project';
  const row = (n: number, metadata: readonly Metadata[] | null, more: Partial<LogRow> = {}): LogRow => ({
    timestamp: `2026-09-30T11:30:00.00000${String(n)}Z`,
    id: `odd-${String(n)}`,
    event_message: `odd ${String(n)}`,
    ...(inRow ? { project: 'default' } : {}),
    metadata,
    ...more,
  });
  const element = (project: string | null): Metadata => (inRow ? {} : { [named]: project });
  return [
    row(1, [element('default'), element('default')]),
    row(2, [element('other'), element('default')]),
    row(3, []),
    row(4, null),
    row(5, [element(null), {}]),
    row(6, [element('default')], { event_message: null }),
    row(7, [element('default')], inRow ? { project: null } : {}),
    row(8, [element('DEFAULT')], inRow ? { project: 'DEFAULT' } : {}),
  ];
}

/** Requests at the edges of chart windows that end at 12:00, and some that count more than once or not at all. */
const CHART_ROWS: readonly LogRow[] = [
  ['2026-09-30T11:00:00.000000Z', ['/rest/v1/edge']],
  ['2026-09-30T10:59:59.999999Z', ['/rest/v1/before']],
  ['2026-09-29T12:00:00.000000Z', ['/storage/v1/edge']],
  ['2026-09-29T11:59:59.999999Z', ['/storage/v1/before']],
  ['2026-09-23T12:00:00.000000Z', ['/auth/v1/edge']],
  ['2026-09-23T11:59:59.999999Z', ['/auth/v1/before']],
  ['2026-09-30T11:45:00.000000Z', ['/rest/v1/auth', '/realtime/v1', '/other', null]],
].map(([timestamp, paths], i) => ({
  timestamp: timestamp as string,
  id: `chart-${String(i)}`,
  event_message: 'chart',
  project: 'charts',
  metadata: [
    { request: (paths as (string | null)[]).map((path) => ({ path, url: `https://charts.example.com${path ?? ''}` })) },
    { request: [{ path: '/rest', url: null }] },
    { request: null },
  ],
}));

/** A folder of tables: the fixture with more rows. Gives the rows of each table. */
export function writeTables(folder: string): ReadonlyMap<string, readonly LogRow[]> {
  cpSync(path.join(__dirname, '../fixture'), folder, { recursive: true });
  return new Map(
    Object.keys(PROJECT_OF).map((table) => {
      const file = path.join(folder, `raw_${table}.ndjson`);
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      const more = [...oddRows(table), ...(table === 'edge_logs' ? CHART_ROWS : [])];
      const rows = [...lines.map((line) => JSON.parse(line) as LogRow), ...more];
      writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      return [table, rows] as const;
    }),
  );
}

/** Microseconds since the epoch. */
export function micros(timestamp: string): number {
  const fraction = /\.(\d+)/.exec(timestamp)?.[1] ?? '';
  return Date.parse(`${timestamp.slice(0, 19)}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}
