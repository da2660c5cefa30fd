import type { QueryFolder } from './folder';

/** Stored queries that parse, each with one fault that only the engine's tables show: what is at fault, and what it is. */
export const FAULTY_QUERIES: readonly (readonly [sql: string, near: string, message: RegExp])[] = [
  ['SELECT pth FROM raw_edge_logs', 'pth', /Unrecognized name: pth/],
  ['SELECT event_mesage FROM raw_edge_logs', 'event_mesage', /Did you mean event_message\?/],
  ['SELECT id FROM raw_edge_log', 'raw_edge_log', /Table not found: raw_edge_log\. Did you mean raw_edge_logs\?/],
  ['SELECT id FROM logs.raw_edge_logs_2', 'logs.raw_edge_logs_2', /Table not found/],
  ['SELECT DATE_TRUNCATE(timestamp, DAY) FROM raw_edge_logs', 'DATE_TRUNCATE', /Did you mean DATE_TRUNC\?/],
  ['SELECT LOWER(1) FROM raw_edge_logs', 'LOWER', /No matching signature/],
  ['SELECT id + 1 FROM raw_edge_logs', '+', /No matching signature/],
  ['SELECT id FROM raw_edge_logs WHERE timestamp > 1', '>', /No matching signature/],
  ['SELECT id FROM raw_edge_logs WHERE id', 'id', /BOOL/],
  ['SELECT m.reqest FROM raw_edge_logs, UNNEST(metadata) AS m', 'reqest', /Did you mean request\?/],
  ['SELECT metadata.request FROM raw_edge_logs', 'request', /Cannot access field request/],
  ['SELECT id, COUNT(*) FROM raw_edge_logs', 'id', /neither grouped nor aggregated/],
  ['SELECT COUNT(*) FROM raw_edge_logs GROUP BY 2', '2', /GROUP BY/],
  ['SELECT id FROM raw_edge_logs ORDER BY nme', 'nme', /Unrecognized name: nme/],
  ['SELECT id FROM raw_edge_logs UNION ALL SELECT id, project FROM raw_edge_logs', '', /column/],
  ['SELECT (SELECT id, project FROM raw_edge_logs) AS x', '', /more than one column/],
  ['SELECT a.id FROM raw_edge_logs AS a JOIN raw_auth_logs AS b ON a.id = b.idd', 'idd', /Did you mean id\?/],
  ['SELECT CAST(id AS STRNG) FROM raw_edge_logs', 'STRNG', /Type not found/],
  ['SELECT * EXCEPT (event_mesage) FROM raw_edge_logs', 'event_mesage', /Did you mean event_message\?/],
  ['WITH x AS (SELECT id AS i FROM raw_edge_logs) SELECT j FROM x', 'j', /Unrecognized name: j/],
];

const SOUND = 'SELECT id FROM raw_edge_logs';
const OF_PROJECT = `${SOUND} WHERE project = @project`;

/** The same, where settings or declared parameters are wrong. */
export const FAULTY_SETTINGS: readonly (readonly [settings: string, sql: string, near: string, message: RegExp])[] = [
  ['cache: 900', SOUND, 'cache', /unknown setting "cache"\. Did you mean cache_ttl\?/],
  ['sandbx: true', SOUND, 'sandbx', /unknown setting "sandbx"\. Did you mean sandbox\?/],
  ['max_rows: many', SOUND, 'max_rows', /max_rows must be a whole number from 1 to 10000/],
  ['cache_ttl: 60\ncache_warming: 90', SOUND, 'cache_warming', /must be shorter than cache_ttl/],
  ['params:\n  project: { type: sting }', OF_PROJECT, 'type', /Did you mean string\?/],
  ['params:\n  project: { type: string, requird: true }', OF_PROJECT, 'requird', /Did you mean required\?/],
  ['params:\n  project: { type: string }', `${OF_PROJECT} AND id = @projct`, '@projct', /Did you mean @project\?/],
  ['params:\n  project: { type: string }\n  unused: { type: string }', OF_PROJECT, 'unused', /the SQL has no @unused/],
  ['params:\n  project: { type: integer, required: true }', OF_PROJECT, '=', /No matching signature for operator =/],
  ['params:\n  lql: { type: string }', `${SOUND} WHERE id = @lql`, 'lql', /lql is reserved/],
];

/** A file for each fault of both lists, by its name. Numbers are in the names and ids, so that the order is that of the lists. */
export function faultyFiles(): Readonly<Record<string, string>> {
  const files = [...FAULTY_QUERIES.map(([sql]) => ['', sql] as const), ...FAULTY_SETTINGS].map(
    ([settings, sql], i) => [nameOf(i), fileOf(i, settings, sql)] as const,
  );
  return Object.fromEntries(files);
}

export const nameOf = (i: number): string => `q${String(i + 10)}.sql`;

function fileOf(i: number, settings: string, sql: string): string {
  const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
  return `/*\nid: ${id}\nname: q${String(i + 10)}\n${settings}${settings === '' ? '' : '\n'}*/\n${sql}\n`;
}

/** What `check` prints of `faultyFiles`, as three lines for each: the fault with its place, the line and a caret below the words at fault. */
export function expectEveryFault(lines: readonly string[], folder: QueryFolder): void {
  const files = faultyFiles();
  const faults = [
    ...FAULTY_QUERIES.map(([, near, message]) => ({ near, message })),
    ...FAULTY_SETTINGS.map(([, , near, message]) => ({ near, message })),
  ];
  expect(lines.filter((line) => /\.sql:\d/.test(line))).toHaveLength(faults.length);
  expect(lines).toHaveLength(3 * faults.length);
  faults.forEach(({ near, message }, i) => {
    const [fault = '', shown = '', caret = ''] = lines.slice(3 * i);
    const [, file, line, column, reason = ''] = /^(.*):(\d+):(\d+): (.*)$/.exec(fault) ?? [];
    expect([file, reason]).toEqual([folder.file(nameOf(i)), expect.stringMatching(message)]);
    const text = files[nameOf(i)]?.split('\n')[Number(line) - 1] ?? '';
    expect([fault, text.slice(Number(column) - 1).startsWith(near)]).toEqual([fault, true]);
    expect([fault, shown.slice(caret.length - 1).startsWith(near)]).toEqual([fault, true]);
  });
}
