import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { lineAndColumn, QueryError, ServiceError } from '../errors';
import { tablesRead, parseQuery, type Parameter, type Query, walk } from '@logquay/googlesql/syntax';
import { nearest } from '@logquay/googlesql';
import { type RoleSettings, segmentsOf } from '@logquay/googlesql/types';
import { readDeclarations } from './declaration';
import type { Endpoint, ParameterDeclaration } from './endpoint';
import { onlyValue } from './parameters';
import { quoteValue, type RawEntry } from './raw-entries';
import { FILE_START, type LineFault, type Place, readSettings, type Settings } from './settings';

/** An id or a name that a file lays claim to: no two files may hold the same. */
export interface Claim {
  readonly key: 'id' | 'name' | 'tool';
  readonly value: string;
}

/** What one file says. `claims` are known as soon as its settings can be read, whatever else is wrong. */
export interface Definition {
  /** null: there are faults. */
  readonly endpoint: Endpoint | null;
  /** As far as it can be read, whatever else is wrong: to find out more, never to run. */
  readonly draft: Endpoint | null;
  readonly faults: readonly LineFault[];
  /** What has no effect any more. */
  readonly warnings: readonly string[];
  readonly claims: readonly Claim[];
  /** The line that a claim stands in. */
  readonly lineOf: (claim: Claim) => number;
  /** Where a setting stands. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
}

/** Names under which a consumer query can reach a CTE (docs/sandbox.md). */
const REACHABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Reads one file of `queries/`: all its faults at once, in the order of their lines, or the endpoint that it defines.
 * What concerns several files (ids and names used twice) is judged by the catalogue.
 */
export function readDefinition(bytes: Buffer, file = ''): Definition {
  let sql: string;
  try {
    sql = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return faulty([{ ...FILE_START, reason: 'the file is not UTF-8' }]);
  }
  const { settings, faults: settingsFaults, placeOf } = readSettings(sql);
  const faults = [...settingsFaults];
  const query = parse(sql, faults);
  if (query !== null) faults.push(...cteFaults(sql, query));
  if (settings === null) return faulty(faults);

  const { declarations, faults: declarationFaults } = readDeclarations(settings.params ?? {}, placeOf);
  faults.push(...declarationFaults, ...cacheFaults(settings, placeOf));
  if (query !== null) {
    faults.push(...parameterFaults(sql, query, declarations, placeOf));
    if (settings.sandbox === true) faults.push(...sandboxFaults(sql, query, () => placeOf(['sandbox'])));
  }
  const claims: Claim[] = [
    { key: 'id', value: settings.id.toLowerCase() },
    { key: 'name', value: settings.name },
    ...(settings.mcp === true ? [{ key: 'tool', value: toolNameOf(settings.name) } as const] : []),
  ];
  const lineOf = ({ key }: Claim): number => placeOf([key === 'tool' ? 'mcp' : key]).line;
  const warnings = (settings.tail ?? null) === null ? [] : ['tail has no effect: there are no live tails on BigQuery'];
  if (query === null) return { ...faulty(faults), warnings, claims, lineOf, placeOf };
  const revision = createHash('sha256').update(bytes).digest('hex');
  const draft = toEndpoint(settings, declarations, { file, sql, query, revision });
  const endpoint = faults.length > 0 ? null : draft;
  return { endpoint, draft, faults: byLine(faults), warnings, claims, lineOf, placeOf };
}

/** What lays claim to nothing. */
function faulty(faults: readonly LineFault[]): Definition {
  return {
    endpoint: null,
    draft: null,
    faults: byLine(faults),
    warnings: [],
    claims: [],
    lineOf: () => FILE_START.line,
    placeOf: () => FILE_START,
  };
}

/** As clients of the Model Context Protocol take names of tools; two endpoints can have one. */
function toolNameOf(name: string): string {
  return `endpoint_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

function byLine(faults: readonly LineFault[]): LineFault[] {
  return [...faults].sort((a, b) => a.line - b.line || a.column - b.column);
}

interface SourceFile {
  readonly file: string;
  readonly sql: string;
  readonly query: Query;
  readonly revision: string;
}

function toEndpoint(
  settings: Settings,
  parameters: readonly ParameterDeclaration[],
  { file, sql, query, revision }: SourceFile,
): Endpoint {
  return {
    id: settings.id.toLowerCase(),
    name: settings.name,
    file,
    description: settings.description ?? '',
    maxRows: Number(settings.max_rows ?? 1000n),
    ordered: query.orderBy.length > 0,
    mcp: settings.mcp ?? false,
    toolName: toolNameOf(settings.name),
    exportRows: Number(settings.export ?? 0n),
    cacheTtl: Number(settings.cache_ttl ?? 0n),
    cacheWarming: Number(settings.cache_warming ?? 0n),
    sandbox: settings.sandbox ?? false,
    redactPii: settings.redact_pii ?? false,
    strictParams: settings.strict_params ?? false,
    maxBytesBilled: settings.max_bytes_billed ?? null,
    timeout: millisecondsOf(settings.timeout),
    parameters,
    log: rolesIn(settings.log),
    sql,
    get query() {
      return treeOf(sql, revision);
    },
    cteTables: (query.with?.entries ?? []).map(({ name }) => name.name),
    revision,
  };
}

function rolesIn(log: Settings['log']): RoleSettings | undefined {
  if (log === null || log === undefined) return undefined;
  const pathIn = (written: string | null | undefined): readonly string[] | undefined =>
    written === null || written === undefined ? undefined : (segmentsOf(written) ?? undefined);
  const time = log.time ?? undefined;
  const path = pathIn(typeof time === 'string' ? time : time?.column);
  const unit = typeof time === 'object' ? time.unit : null;
  return {
    time: path === undefined ? undefined : { path, unit },
    message: pathIn(log.message),
    severity: pathIn(log.severity),
    trace: pathIn(log.trace),
  };
}

function millisecondsOf(seconds: bigint | null | undefined): number | null {
  return seconds === null || seconds === undefined ? null : Number(seconds) * 1000;
}

/** Characters of text whose trees are cached: at least eight, as a text has 64 KiB at most (packages/googlesql/src/bounds.ts). */
const TREES_OF = 512 * 1024;

/**
 * Syntax trees of the stored queries that are in use, by revision: a tree takes many times the memory of its text, and of
 * thousands of stored queries few are run. Reading a file adds none: trees that outlive the reading of thousands of files
 * cost more time in the garbage collector than it takes to parse them.
 */
const TREES = new LRUCache<string, Query>({ maxSize: TREES_OF });

function treeOf(sql: string, revision: string): Query {
  const known = TREES.get(revision);
  if (known !== undefined) return known;
  const tree = parseQuery(sql);
  TREES.set(revision, tree, { size: sql.length });
  return tree;
}

function parse(sql: string, faults: LineFault[]): Query | null {
  try {
    return parseQuery(sql);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    faults.push(faultIn(sql, error, 'the SQL does not parse: '));
    return null;
  }
}

/** A fault of a stored query, which is the text of a whole file. @param before what the reason begins with */
export function faultIn(sql: string, { span, message, details }: QueryError, before = ''): LineFault {
  const place = span === null ? FILE_START : lineAndColumn(sql, span.start);
  return { ...place, reason: `${before}${message}`, hint: details.hint };
}

function cacheFaults(settings: Settings, placeOf: (path: readonly PropertyKey[]) => Place): LineFault[] {
  const ttl = settings.cache_ttl ?? 0n;
  const warming = settings.cache_warming ?? 0n;
  if (warming === 0n || warming < ttl) return [];
  const reason = ttl === 0n ? 'cache_warming needs a cache_ttl' : 'cache_warming must be shorter than cache_ttl';
  return [{ ...placeOf(['cache_warming']), reason }];
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
  placeOf: (path: readonly PropertyKey[]) => Place,
): LineFault[] {
  const faults: LineFault[] = [];
  const named = new Set<string>();
  const reported = new Set<string>();
  for (const { form, name, span } of parametersOf(query)) {
    // Reckoned for faults alone: a place takes as long as the text before it.
    const place = (): Place => lineAndColumn(sql, span.start);
    if (form === 'positional') faults.push({ ...place(), reason: '? cannot be bound: name the parameter with @' });
    if (form !== 'named') continue;
    named.add(name);
    if (declarations.some((declaration) => declaration.name === name) || reported.has(name)) continue;
    reported.add(name);
    const twin = declarations.find((declaration) => declaration.name.toLowerCase() === name.toLowerCase());
    const alike = twin === undefined ? '' : ` (declared is ${twin.name}: write it alike)`;
    const near = nearest(
      name,
      declarations.map((declaration) => declaration.name),
    );
    const hint = twin !== undefined || near === undefined ? undefined : `Did you mean @${near}?`;
    faults.push({ ...place(), reason: `@${name} has no declaration under params${alike}`, hint });
  }
  for (const { name } of declarations) {
    if (named.has(name)) continue;
    faults.push({
      ...placeOf(['params', name]),
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
      faults.push({ ...lineAndColumn(sql, name.span.start), reason: `the CTE ${name.name} is defined twice` });
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
    faults.push({ ...lineAndColumn(sql, span.start), reason });
  }
  return faults;
}

function sandboxFaults(sql: string, query: Query, place: () => Place): LineFault[] {
  const ctes = query.with?.entries ?? [];
  if (query.with === null || ctes.length === 0)
    return [{ ...place(), reason: 'sandbox needs at least one CTE to read' }];
  const faults = ctes
    .filter(({ name }) => !REACHABLE.test(name.name))
    .map(({ name }) => ({
      ...lineAndColumn(sql, name.span.start),
      reason: `sandbox: a CTE is named with ASCII letters, digits and _, not ${JSON.stringify(name.name)}`,
    }));
  if (query.with.recursive) {
    const start = lineAndColumn(sql, query.with.span.start);
    faults.push({ ...start, reason: 'sandbox: WITH RECURSIVE cannot take a consumer query' });
  }
  return faults;
}

/**
 * Reads `position`, a place in the text of a consumer query in code points. An endpoint that declares a parameter of this name
 * keeps it.
 *
 * @returns null: it is not given
 * @throws ServiceError `invalidParameter` for anything but a whole number from 0
 */
export function readPosition(endpoint: Pick<Endpoint, 'parameters'>, raw: readonly RawEntry[]): number | null {
  if (endpoint.parameters.some(({ name }) => name === 'position')) return null;
  const value = onlyValue(raw, 'position');
  if (value === null) return null;
  if ('text' in value && /^\d{1,6}$/.test(value.text)) return Number(value.text);
  const came = 'text' in value ? quoteValue(value.text) : `an ${value.kind}`;
  throw new ServiceError('invalidParameter', `Parameter "position" must be a whole number from 0, not ${came}.`, {
    parameter: 'position',
  });
}
