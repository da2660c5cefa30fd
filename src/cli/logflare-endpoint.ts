/** An endpoint of Logflare as a file of a stored query. */
import { stringify } from 'yaml';
import { z } from 'zod';

import { readDefinition } from '../endpoints/definition';
import { QueryError } from '../errors';
import { tablesRead, parseQuery, type Query, walk } from '@logquay/googlesql/syntax';

/** What `GET /api/endpoints` says of one, as far as it is read. */
export const logflareEndpointSchema = z.object({
  token: z.uuid(),
  name: z.string(),
  query: z.string(),
  description: z.string().nullish(),
  language: z.string().nullish(),
  /** UUIDs of the sources, by the names that they had when the query was saved. */
  source_mapping: z.record(z.string(), z.string()).nullish(),
  sandboxable: z.boolean().nullish(),
  cache_duration_seconds: z.number().int().nullish(),
  proactive_requerying_seconds: z.number().int().nullish(),
  max_limit: z.number().int().nullish(),
  enable_auth: z.boolean().nullish(),
  redact_pii: z.boolean().nullish(),
  labels: z.string().nullish(),
});

export type LogflareEndpoint = z.output<typeof logflareEndpointSchema>;

export interface ImportedEndpoint {
  /** null: it is left out. */
  readonly file: { readonly name: string; readonly text: string } | null;
  /** What does not carry over, and why it is left out. */
  readonly notes: readonly string[];
}

const MOST_ROWS = 10_000;

/** @param tables by the name and by the UUID of their source, in lower case */
export function importEndpoint(endpoint: LogflareEndpoint, tables: ReadonlyMap<string, string>): ImportedEndpoint {
  const { language, query: sql } = endpoint;
  if (language !== 'bq_sql' && language !== null && language !== undefined) {
    return { file: null, notes: [`left out: its query is ${language}, not BigQuery's SQL`] };
  }
  let query: Query;
  try {
    query = parseQuery(sql);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { file: null, notes: [`left out: the query cannot be read: ${error.message}`] };
  }
  const notes: string[] = [];
  const text = `/*\n${settingsText(endpoint, query, notes)}*/\n\n${withTables(endpoint, query, tables, notes).trim()}\n`;
  const { faults } = readDefinition(Buffer.from(text));
  if (faults.length > 0) {
    const reasons = faults.map(({ line, reason }) => `line ${String(line)}: ${reason}`);
    return { file: null, notes: [...notes, `left out: ${reasons.join('; ')}`] };
  }
  return { file: { name: `${nameOf(endpoint)}.sql`, text }, notes };
}

/** Names are part of URLs, and of a file's name. */
function nameOf({ name, token }: LogflareEndpoint): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return plain === '' ? `endpoint-${token}` : plain;
}

function settingsText(endpoint: LogflareEndpoint, query: Query, notes: string[]): string {
  const name = nameOf(endpoint);
  if (name !== endpoint.name) notes.push(`its name is ${name} here`);
  const ttl = Math.max(0, endpoint.cache_duration_seconds ?? 0);
  const warming = Math.max(0, endpoint.proactive_requerying_seconds ?? 0);
  const isWarmed = warming > 0 && warming < ttl;
  if (warming > 0 && !isWarmed) notes.push('it is not requeried before its cache expires: that takes a shorter time');
  const rows = endpoint.max_limit ?? 1000;
  if (rows > MOST_ROWS) notes.push(`it answers ${String(MOST_ROWS)} rows at most`);
  const hasTables = (query.with?.entries.length ?? 0) > 0;
  const sandbox = endpoint.sandboxable === true && hasTables;
  if (endpoint.sandboxable === true && !hasTables) notes.push('it takes no queries of callers: its query has no WITH');
  if (endpoint.enable_auth === false) notes.push('it needs a key here');
  if ((endpoint.labels ?? '') !== '') notes.push('its labels are left out');
  const parameters = parametersOf(query);
  if (parameters.length > 0) notes.push(`declare what its parameters are: ${parameters.join(', ')}`);
  // The comment that holds the settings ends at the first such characters.
  const description = (endpoint.description ?? '').replaceAll('*/', '* /');
  return stringify({
    id: endpoint.token,
    name,
    ...(description === '' ? {} : { description }),
    max_rows: Math.min(Math.max(1, rows), MOST_ROWS),
    ...(ttl === 0 ? {} : { cache_ttl: ttl }),
    ...(isWarmed ? { cache_warming: warming } : {}),
    sandbox,
    redact_pii: endpoint.redact_pii ?? false,
    ...(parameters.length === 0
      ? {}
      : { params: Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }])) }),
  });
}

/** Names of parameters, each once, in the order of the text. */
function parametersOf(query: Query): string[] {
  const names = new Set<string>();
  walk(query, (node) => {
    if (node.kind === 'parameter' && node.form === 'named') names.add(node.name);
  });
  return [...names];
}

/** The query with the table of each source in the source's place. */
function withTables(
  { query: sql, source_mapping: ids }: LogflareEndpoint,
  query: Query,
  tables: ReadonlyMap<string, string>,
  notes: string[],
): string {
  const edits: { start: number; end: number; table: string }[] = [];
  for (const { node } of tablesRead(query)) {
    const name = node.path.map((part) => part.name).join('.');
    // A source may have another name by now, and its old one may be another source's.
    const table = tables.get((ids?.[name] ?? name).toLowerCase());
    const [first] = node.path;
    const last = node.path.at(-1);
    if (table === undefined || first === undefined || last === undefined) {
      notes.push(`it reads ${name}, which is no source`);
      continue;
    }
    edits.push({ start: first.span.start, end: last.span.end, table });
  }
  edits.sort((a, b) => b.start - a.start);
  return edits.reduce((text, { start, end, table }) => text.slice(0, start) + table + text.slice(end), sql);
}
