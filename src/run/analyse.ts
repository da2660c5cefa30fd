/** The analysis of a request: everything that a run would check, without running or billing anything (docs/querying.md). */
import type { Endpoint } from '../endpoints/endpoint';
import { readParameter, unknownParameters, describeParameters } from '../endpoints/parameters';
import type { RawEntry } from '../endpoints/raw-entries';
import {
  type ConsumerRequest,
  readPaging,
  readSwitch,
  readTimestampForm,
  readConsumerRequest,
} from '../endpoints/reserved-parameters';
import { ServiceError, lineAndColumn, offsetOf } from '../errors';
import type { Key } from '../keys/key';
import type { BoundParameter, RunLimits } from '@logquay/duckdb-engine/contract';
import {
  checkMayExport,
  authorise,
  checkDeclaredTables,
  checkPermissions,
  checkResolves,
  mayQuery,
  maySeeSchema,
} from './authorise';
import { asksForRedaction, checkPageable, refusalOf } from './plan';
import type { Services } from './services';
import type { RunRequest, RequestPlan } from './types';
import {
  type ConsumerAnalysis,
  type ConsumerTable,
  type TextFault,
  type Warning,
  describeFunctions,
} from '@logquay/googlesql/consumer';
import { analyseConsumerText } from '../analysis/consumer-task';
import { storedQueryOf, type StoredAnalysis } from '../analysis/stored-analyses';
import { completeText } from '../analysis/complete-task';
import { readPosition } from '../endpoints/definition';
import { describeColumns, type Description } from '@logquay/googlesql';
import { describeRoles, rolesOf } from '@logquay/googlesql/types';
import type { Span } from '@logquay/googlesql/syntax';
import { tablesOfStoredQuery } from '../sandbox/compose';
import { engineQuery, limitsOf } from './execute';
import { composeStatement, forCaller } from './statement';

export interface CheckedParameters {
  /** The declared ones, as a run would bind them; null: one of them cannot be bound. */
  readonly parameters: readonly BoundParameter[] | null;
  /** All `invalidParameter`. */
  readonly faults: readonly ServiceError[];
}

/** @throws ServiceError accessDenied, as a run does */
function checkParameters(
  request: Pick<RunRequest, 'header'>,
  endpoint: Endpoint,
  given: readonly RawEntry[],
  consumer: ConsumerRequest,
  key: Key,
  services: Pick<Services, 'engine' | 'now'>,
): CheckedParameters {
  const faults: ServiceError[] = [];
  const now = services.now();
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.reason !== 'invalidParameter') throw error;
      faults.push(error);
      return null;
    }
  };
  if (endpoint.strictParams) faults.push(...unknownParameters(endpoint, given).map((one) => refusalOf(one, endpoint)));
  const parameters = endpoint.parameters.flatMap(
    (declaration) => attempt(() => readParameter(declaration, given, key.pins, now)) ?? [],
  );
  attempt(() => asksForRedaction(request.header('lf-endpoint-redact-pii')));
  attempt(() => readTimestampForm(endpoint, given));
  if (attempt(() => readSwitch(endpoint, given, 'export')) === true) checkMayExport(key, endpoint);
  else if (attempt(() => readPaging(endpoint, given)) !== null) {
    attempt(() => {
      checkPageable(consumer, 'application/json', key, endpoint, services);
    });
  }
  return { parameters: parameters.length < endpoint.parameters.length ? null : parameters, faults };
}

const TIB = 2 ** 40;

/**
 * Analyses a request to an endpoint: its faults are part of the result.
 *
 * @returns the body of the response, as plain data
 * @throws ServiceError as a run does before SQL is read; and where engine or gate do not answer
 */
export async function analyse(request: RunRequest, services: Services): Promise<object> {
  const { key, endpoint } = await authorise(request, services);
  await checkResolves(endpoint, services);
  const given = await request.timed('read', () => request.parameters());
  const consumer = readConsumerRequest(endpoint, given);
  checkPermissions({ ...consumer, dryRun: false }, given, key, endpoint);
  checkDeclaredTables(consumer.query, key, endpoint, services.engine);
  if (consumer.query !== null) request.record({ query: consumer.query });
  const { limits: bounds, timeout } = limitsOf({ endpoint }, request, services);
  const limits = { ...bounds, keyName: key.name };
  const stored = await request.timed('gate', () => services.analyses.of(endpoint, limits));
  const bound = checkParameters(request, endpoint, given, consumer, key, services);
  const { kind, text, analysis } = await request.timed('gate', () =>
    analyseText(endpoint, consumer, stored, services, limits),
  );
  const warnings = [...unknownWarnings(endpoint, given), ...analysis.warnings];
  if (services.engine.kind === 'bigquery' && !isBoundInTime(endpoint, given, key, analysis)) warnings.push(NO_TIME);
  const faults = [...bound.faults.map(describeFault), ...analysis.errors.map((fault) => located(fault, text))];
  const { parameters } = bound;
  const estimated =
    readSwitch(endpoint, given, 'estimate') && faults.length === 0 && parameters !== null
      ? await estimateOf({ endpoint, query: consumer.query, parameters }, key, services, limits)
      : NO_ESTIMATE;
  const columns = maySeeSchema(key, endpoint, services.engine) ? analysis.columns : null;
  const position = readPosition(endpoint, given);
  const completions =
    position === null || !mayQuery(key, endpoint, services.engine)
      ? null
      : await request.timed('gate', () => completionsAt(position, consumer, stored, services, limits));
  return {
    kind,
    lqlAsSql: analysis.lqlAsSql,
    tables: analysis.tables,
    parameters: describeParameters(endpoint, key.pins),
    columns: columns === null ? null : describeColumns(columns),
    roles: columns === null || analysis.roles === null ? null : describeRoles(analysis.roles),
    errors: [...faults, ...estimated.faults.map((fault) => locatedAgain(fault, text))],
    warnings,
    limits: { maxRows: endpoint.maxRows, timeout: timeout / 1000 },
    estimate: estimated.estimate,
    ...(position === null ? {} : { completions: completions ?? [] }),
  };
}

interface AnalysedText {
  readonly kind: 'sql' | 'lql' | 'stored';
  readonly text: string;
  readonly analysis: ConsumerAnalysis;
}

async function analyseText(
  endpoint: Endpoint,
  { query }: ConsumerRequest,
  stored: StoredAnalysis,
  { threads, now }: Services,
  limits: RunLimits,
): Promise<AnalysedText> {
  if (query === null || (query.language === 'lql' && query.text.trim() === '')) {
    const tables = tablesOfStoredQuery(storedQueryOf(endpoint));
    const { columns, roles } = stored;
    const analysis = { lqlAsSql: null, tables, columns, roles, mentionsTime: true, errors: [], warnings: [] };
    return { kind: 'stored', text: '', analysis };
  }
  const { language, text } = query;
  const { tables, parameters } = stored;
  const given = { language, text, tables, parameters, now: now() };
  const analysis = await threads.do(analyseConsumerText, given, text, limits);
  return { kind: language, text, analysis };
}

/** What may be written at a place, in code points, of the query: from its endpoint's tables alone, never from rows. */
async function completionsAt(
  position: number,
  { query }: ConsumerRequest,
  { tables, parameters }: StoredAnalysis,
  { threads }: Services,
  limits: RunLimits & { readonly keyName: string },
): Promise<readonly object[]> {
  const { language, text } = query ?? { language: 'sql', text: '' };
  const cursor = Array.from(text).slice(0, position).join('').length;
  const written = { language, text, position: cursor, tables, parameters };
  const { span, items } = await threads.do(completeText, written, text, limits);
  const place = placeOf(span, text);
  return items.map(({ also, ...item }) => ({
    ...item,
    ...place,
    ...(also === undefined
      ? {}
      : { also: { insert: also.insert, ...placeOf({ start: also.at, end: also.at }, text) } }),
  }));
}

function unknownWarnings(endpoint: Endpoint, given: readonly RawEntry[]): Warning[] {
  // Where they are not ignored they are faults.
  const ignored = endpoint.strictParams ? [] : unknownParameters(endpoint, given);
  return ignored.map(({ name, near }) => ({
    message: 'The endpoint has no such parameter, and ignores it.',
    parameter: name,
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
  }));
}

const NO_TIME: Warning = {
  message: 'Nothing bounds the time of the rows: BigQuery reads the whole tables.',
  hint: 'Send the parameters of the endpoint that bound it, or compare the time of the rows in WHERE.',
};

/** Whether a parameter or the text bounds the time of the rows that are read. */
function isBoundInTime(
  { parameters }: Endpoint,
  given: readonly RawEntry[],
  { pins }: Key,
  { mentionsTime }: ConsumerAnalysis,
): boolean {
  if (parameters.some(({ defaultLookback }) => defaultLookback !== null)) return true;
  const times = parameters.filter(({ type }) => type === 'timestamp' || type === 'date').map(({ name }) => name);
  const isGiven = ({ value }: RawEntry): boolean =>
    value.kind === 'array' ? value.items.length > 0 : 'text' in value && value.text !== '';
  const sent = given.filter(isGiven).map(({ name }) => name);
  const bounded = times.some((name) => pins.has(name) || sent.includes(name));
  return times.length === 0
    ? mentionsTime
    : bounded || (mentionsTime && sent.some((name) => name === 'sql' || name === 'lql'));
}

interface Estimated {
  readonly estimate: object | null;
  /** What the engine, or the gate, finds wrong with the query beside what the analysis finds. */
  readonly faults: readonly ServiceError[];
}

const NO_ESTIMATE: Estimated = { estimate: null, faults: [] };

async function estimateOf(
  {
    endpoint,
    query,
    parameters,
  }: { endpoint: Endpoint; query: RequestPlan['query']; parameters: readonly BoundParameter[] },
  key: Key,
  services: Services,
  limits: RunLimits,
): Promise<Estimated> {
  const { dryRun } = services.engine;
  // The number of bytes read depends on rows behind the fence.
  if (dryRun === null || key.pins.size > 0) return NO_ESTIMATE;
  const plan = {
    endpoint,
    query,
    parameters,
    fenced: false,
    redacted: false,
    isoTimestamps: false,
    payer: key.name,
    purpose: 'run',
  } as const;
  try {
    const statement = await composeStatement(plan, services, limits);
    const pending = dryRun(engineQuery(plan, statement, services), limits);
    const { bytesProcessed, bytesBilled } = await pending.catch(forCaller(statement));
    const estimate = {
      bytes: bytesProcessed.toString(),
      price: (Number(bytesBilled) / TIB) * services.pricePerTiB,
      currency: 'USD',
      budgetLeft: services.budgets.left(key),
    };
    return { estimate, faults: [] };
  } catch (error) {
    if (!(error instanceof ServiceError) || !FAULTS_OF_QUERIES.has(error.reason)) throw error;
    return { estimate: null, faults: [error] };
  }
}

const FAULTS_OF_QUERIES: ReadonlySet<string> = new Set<TextFault['reason']>([
  'invalidQuery',
  'sandboxViolation',
  'unknownField',
  'resourcesExceeded',
  'invalidLql',
]);

function describeFault({ reason, message, details }: ServiceError): object {
  return { reason, message, ...details };
}

/** A fault that a run would answer with, and its place in offsets as well. */
function locatedAgain(fault: ServiceError, text: string): object {
  const { line, column, near = '' } = fault.details;
  if (line === undefined || column === undefined) return describeFault(fault);
  const start = offsetOf(text, line, column);
  return { ...describeFault(fault), ...placeOf({ start, end: start + near.length }, text) };
}

/** A fault with its place, for people and for editors: `start` and `end` count code points. */
function located({ span, note: _, ...fault }: TextFault, text: string): object {
  if (span === null) return fault;
  const near = text.slice(span.start, span.end);
  return {
    ...fault,
    ...placeOf(span, text),
    ...lineAndColumn(text, span.start),
    ...(near === '' ? {} : { near: Array.from(near).slice(0, LONGEST_NEAR).join('') }),
  };
}

/** Longest excerpt in `near`, in code points. */
const LONGEST_NEAR = 80;

function placeOf({ start, end }: Span, text: string): object {
  return { start: pointsBefore(text, start), end: pointsBefore(text, end), startUtf16: start, endUtf16: end };
}

/** Code points before an offset. Hundreds of places in a long text are counted on the main thread: nothing is copied for it. */
function pointsBefore(text: string, offset: number): number {
  let points = 0;
  for (let i = 0; i < offset; i++) {
    const unit = text.charCodeAt(i);
    // The second half of a pair; a lone one is refused before.
    if (unit < 0xdc00 || unit > 0xdfff) points++;
  }
  return points;
}

function describeTable(
  { name, columns, roles }: ConsumerTable,
  { log }: Endpoint,
  descriptions: readonly Description[] | undefined,
): object {
  return {
    name,
    columns: describeColumns(columns, descriptions),
    roles: describeRoles(roles ?? rolesOf(columns, log)),
  };
}

/** What a key may query: for editors, explorers and assistants (docs/querying.md). */

/**
 * The parameters, tables and functions of an endpoint, and the columns of its own rows.
 *
 * @returns the body of the response, as plain data
 * @throws ServiceError as a run does before SQL is read; and where the engine does not answer
 */
export async function schemaOf(request: RunRequest, services: Services): Promise<object> {
  const { key, endpoint } = await authorise(request, services);
  await checkResolves(endpoint, services);
  const { limits } = limitsOf({ endpoint }, request, services);
  const { tables, columns, roles, descriptions } = await services.analyses.of(endpoint, {
    ...limits,
    keyName: key.name,
  });
  const queries = mayQuery(key, endpoint, services.engine);
  const seen = maySeeSchema(key, endpoint, services.engine) ? columns : null;
  return {
    parameters: describeParameters(endpoint, key.pins),
    columns: seen === null ? null : describeColumns(seen, descriptions.columns),
    roles: seen === null || roles === null ? null : describeRoles(roles),
    tables: queries ? tables.map((table) => describeTable(table, endpoint, descriptions.tables.get(table.name))) : [],
    functions: queries ? describeFunctions() : [],
  };
}
