import { createHash } from 'node:crypto';

import { lineAndColumn, QueryError } from '../errors';
import { parseQuery } from '../googlesql/parser';
import { tablesRead } from '../googlesql/from-paths';
import type { Parameter, Query } from '../googlesql/syntax';
import { walk } from '../googlesql/syntax-walk';

import { readDeclarations } from './declaration';
import type { Endpoint, ParameterDeclaration } from './endpoint';
import { type LineFault, readSettings, type Settings } from './settings';

/** An id or a name that a file lays claim to: no two files may hold the same. */
export interface Claim {
  readonly key: 'id' | 'name';
  readonly value: string;
  readonly line: number;
}

/** What one file says. `claims` are known as soon as its settings can be read, whatever else is wrong. */
export interface Definition {
  /** null: there are faults. */
  readonly endpoint: Endpoint | null;
  readonly faults: readonly LineFault[];
  readonly claims: readonly Claim[];
}

/** Names under which a consumer query can reach a CTE (docs/sandbox.md). */
const REACHABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Reads one file of `queries/`: all its faults at once, in the order of their lines, or the endpoint that it defines.
 * What concerns several files (ids and names used twice) is judged by the catalogue.
 */
export function readDefinition(bytes: Buffer): Definition {
  let sql: string;
  try {
    sql = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { endpoint: null, faults: [{ line: 1, reason: 'the file is not UTF-8' }], claims: [] };
  }
  const { settings, faults: settingsFaults, lineOf } = readSettings(sql);
  const faults = [...settingsFaults];
  const query = parse(sql, faults);
  if (query !== null) faults.push(...cteFaults(sql, query));
  if (settings === null) return { endpoint: null, faults: byLine(faults), claims: [] };

  const { declarations, faults: declarationFaults } = readDeclarations(settings.params ?? {}, lineOf);
  faults.push(...declarationFaults, ...cacheFaults(settings, lineOf));
  if (query !== null) {
    faults.push(...parameterFaults(sql, query, declarations, lineOf));
    if (settings.sandbox === true) faults.push(...sandboxFaults(sql, query, lineOf(['sandbox'])));
  }
  const claims: Claim[] = [
    { key: 'id', value: settings.id.toLowerCase(), line: lineOf(['id']) },
    { key: 'name', value: settings.name, line: lineOf(['name']) },
  ];
  if (query === null || faults.length > 0) return { endpoint: null, faults: byLine(faults), claims };
  const revision = createHash('sha256').update(bytes).digest('hex');
  return { endpoint: toEndpoint(settings, declarations, sql, query, revision), faults: [], claims };
}

function byLine(faults: readonly LineFault[]): LineFault[] {
  return [...faults].sort((a, b) => a.line - b.line);
}

function toEndpoint(
  settings: Settings,
  parameters: readonly ParameterDeclaration[],
  sql: string,
  query: Query,
  revision: string,
): Endpoint {
  return {
    id: settings.id.toLowerCase(),
    name: settings.name,
    description: settings.description ?? '',
    maxRows: Number(settings.max_rows ?? 1000n),
    cacheTtl: Number(settings.cache_ttl ?? 0n),
    cacheWarming: Number(settings.cache_warming ?? 0n),
    sandbox: settings.sandbox ?? false,
    redactPii: settings.redact_pii ?? false,
    maxBytesBilled: settings.max_bytes_billed ?? null,
    timeout: settings.timeout === null || settings.timeout === undefined ? null : Number(settings.timeout) * 1000,
    parameters,
    sql,
    query,
    cteTables: (query.with?.entries ?? []).map(({ name }) => name.name),
    revision,
  };
}

function parse(sql: string, faults: LineFault[]): Query | null {
  try {
    return parseQuery(sql);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { line, column } = lineAndColumn(sql, error.span?.start ?? sql.length);
    faults.push({ line, reason: `the SQL does not parse: ${error.message} (column ${String(column)})` });
    return null;
  }
}

function cacheFaults(settings: Settings, lineOf: (path: readonly PropertyKey[]) => number): LineFault[] {
  const ttl = settings.cache_ttl ?? 0n;
  const warming = settings.cache_warming ?? 0n;
  if (warming === 0n || warming < ttl) return [];
  const reason = ttl === 0n ? 'cache_warming needs a cache_ttl' : 'cache_warming must be shorter than cache_ttl';
  return [{ line: lineOf(['cache_warming']), reason }];
}

/** Every `@name`, `@@name` and `?` of the query, CTE bodies included, in the order of the text. */
function parametersOf(query: Query): Parameter[] {
  const found: Parameter[] = [];
  walk(query, (node) => {
    if (node.kind === 'parameter') found.push(node);
  });
  return found;
}

function parameterFaults(
  sql: string,
  query: Query,
  declarations: readonly ParameterDeclaration[],
  lineOf: (path: readonly PropertyKey[]) => number,
): LineFault[] {
  const faults: LineFault[] = [];
  const named = new Set<string>();
  const reported = new Set<string>();
  for (const { form, name, span } of parametersOf(query)) {
    const { line } = lineAndColumn(sql, span.start);
    if (form === 'positional') faults.push({ line, reason: '? cannot be bound: name the parameter with @' });
    if (form !== 'named') continue;
    named.add(name);
    if (declarations.some((declaration) => declaration.name === name) || reported.has(name)) continue;
    reported.add(name);
    const twin = declarations.find((declaration) => declaration.name.toLowerCase() === name.toLowerCase());
    const hint = twin === undefined ? '' : ` (declared is ${twin.name}: write it alike)`;
    faults.push({ line, reason: `@${name} has no declaration under params${hint}` });
  }
  for (const { name } of declarations) {
    if (named.has(name)) continue;
    faults.push({
      line: lineOf(['params', name]),
      reason: `parameter ${JSON.stringify(name)}: the SQL has no @${name}`,
    });
  }
  return faults;
}

function cteFaults(sql: string, query: Query): LineFault[] {
  const faults: LineFault[] = [];
  const ctes = query.with?.entries ?? [];
  const seen = new Set<string>();
  for (const { name } of ctes) {
    const folded = name.name.toLowerCase();
    if (seen.has(folded)) {
      faults.push({ line: lineAndColumn(sql, name.span.start).line, reason: `the CTE ${name.name} is defined twice` });
    }
    seen.add(folded);
  }
  const reported = new Set<string>();
  for (const {
    node: { path, span },
    within,
  } of tablesRead(query)) {
    // A path inside one pair of backticks holds its data set too. A table of another data set clashes only with the CTE
    // that it is read by: nothing else in the query can mean it by one name.
    const parts = path.flatMap(({ name }) => name.split('.'));
    const table = parts.at(-1)?.toLowerCase() ?? '';
    if (!seen.has(table) || reported.has(table)) continue;
    if (parts.length > 1 && within?.name.name.toLowerCase() !== table) continue;
    reported.add(table);
    const reason = `the CTE ${parts.at(-1) ?? ''} is named like a table that the query reads: give the CTE another name`;
    faults.push({ line: lineAndColumn(sql, span.start).line, reason });
  }
  return faults;
}

function sandboxFaults(sql: string, query: Query, line: number): LineFault[] {
  const ctes = query.with?.entries ?? [];
  if (query.with === null || ctes.length === 0) return [{ line, reason: 'sandbox needs at least one CTE to read' }];
  const faults = ctes
    .filter(({ name }) => !REACHABLE.test(name.name))
    .map(({ name }) => ({
      line: lineAndColumn(sql, name.span.start).line,
      reason: `sandbox: a CTE is named with ASCII letters, digits and _, not ${JSON.stringify(name.name)}`,
    }));
  if (query.with.recursive) {
    const start = lineAndColumn(sql, query.with.span.start).line;
    faults.push({ line: start, reason: 'sandbox: WITH RECURSIVE cannot take a consumer query' });
  }
  return faults;
}
