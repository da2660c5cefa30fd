/** The analysis of a request: everything that a run would check, without running or billing anything (docs/analysis.md). */
import { analyseConsumerText } from '../analysis/consumer-task';
import type { ConsumerAnalysis, TextFault, Warning } from '../analysis/consumer-query';
import { storedQueryOf } from '../analysis/stored-analyses';
import type { StoredAnalysis } from '../analysis/stored-query';
import { completeText } from '../completion/complete-task';
import {
  type ConsumerRequest,
  describeParameters,
  type Endpoint,
  type RawEntry,
  readConsumerRequest,
  readParameters,
  readPosition,
  readSwitch,
  unknownParameters,
} from '../endpoints';
import type { BoundParameter, RunLimits } from '../engines/contract';
import { lineAndColumn, ServiceError } from '../errors';
import { describeColumns } from '../googlesql/described-columns';
import type { Span } from '../googlesql/syntax';
import type { Key } from '../keys';
import { tablesOfStoredQuery } from '../sandbox';
import { authorise, checkDeclaredTables, checkPermissions, checkResolves, mayQuery, maySeeSchema } from './authorise';
import { engineQuery } from './execute';
import { limitsOf } from './limits';
import type { Services } from './services';
import { composeStatement } from './statement';
import type { RequestPlan, RunRequest } from './types';

const TIB = 2 ** 40;

/**
 * Analyses a request to an endpoint: its faults are part of the result.
 *
 * @returns the body of the response, as plain data
 * @throws ServiceError as a run does before SQL is read; and where engine or gate do not answer
 */
export async function analyse(request: RunRequest, services: Services): Promise<object> {
  const { key, endpoint } = authorise(request, services);
  await checkResolves(endpoint, services);
  const given = await request.timed('read', () => request.parameters());
  const consumer = readConsumerRequest(endpoint, given);
  checkPermissions({ ...consumer, dryRun: false }, given, key, endpoint);
  checkDeclaredTables(consumer.query, key, endpoint, services.engine);
  if (consumer.query !== null) request.record({ query: consumer.query });
  const { limits: bounds, timeout } = limitsOf({ endpoint }, request, services);
  const limits = { ...bounds, keyName: key.name };
  const stored = await request.timed('gate', () => services.analyses.of(endpoint, limits));
  const bound = bindable(endpoint, given, key);
  const { kind, text, analysis } = await request.timed('gate', () =>
    analyseText(endpoint, consumer, stored, services, limits),
  );
  const warnings = [...unknownWarnings(endpoint, given), ...analysis.warnings];
  if (services.engine.kind === 'bigquery' && !isBoundInTime(endpoint, given, key, analysis)) warnings.push(NO_TIME);
  const faults = [...bound.errors, ...analysis.errors.map((fault) => located(fault, text))];
  const wanted = readSwitch(endpoint, given, 'estimate') && faults.length === 0 && bound.parameters !== null;
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
    errors: faults,
    warnings,
    limits: { maxRows: endpoint.maxRows, timeout: timeout / 1000 },
    estimate: wanted
      ? await estimateOf({ endpoint, query: consumer.query, parameters: bound.parameters }, key, services, limits)
      : null,
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
    const analysis = { lqlAsSql: null, tables, columns: stored.columns, mentionsTime: true, errors: [], warnings: [] };
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

/** The parameters as a run would bind them, or what is wrong with the first that it could not. */
function bindable(
  endpoint: Endpoint,
  given: readonly RawEntry[],
  { pins }: Key,
): { readonly parameters: readonly BoundParameter[] | null; readonly errors: readonly object[] } {
  try {
    return { parameters: readParameters(endpoint, given, pins), errors: [] };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.reason !== 'invalidParameter') throw error;
    const { reason, message, details } = error;
    return { parameters: null, errors: [{ reason, message, ...details }] };
  }
}

function unknownWarnings(endpoint: Endpoint, given: readonly RawEntry[]): Warning[] {
  return unknownParameters(endpoint, given).map(({ name, near }) => ({
    message: 'The endpoint has no such parameter, and ignores it.',
    parameter: name,
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
  }));
}

const NO_TIME: Warning = {
  message: 'Nothing bounds the time of the rows: BigQuery reads the whole tables.',
  hint: 'Send the parameters of the endpoint that bound it, or compare timestamp in WHERE.',
};

/** Whether a parameter or the text bounds the time of the rows that are read. */
function isBoundInTime(
  { parameters }: Endpoint,
  given: readonly RawEntry[],
  { pins }: Key,
  { mentionsTime }: ConsumerAnalysis,
): boolean {
  const times = parameters.filter(({ type }) => type === 'timestamp' || type === 'date').map(({ name }) => name);
  const isGiven = ({ value }: RawEntry): boolean =>
    value.kind === 'array' ? value.items.length > 0 : 'text' in value && value.text !== '';
  const sent = given.filter(isGiven).map(({ name }) => name);
  const bounded = times.some((name) => pins.has(name) || sent.includes(name));
  return times.length === 0
    ? mentionsTime
    : bounded || (mentionsTime && sent.some((name) => name === 'sql' || name === 'lql'));
}

async function estimateOf(
  {
    endpoint,
    query,
    parameters,
  }: { endpoint: Endpoint; query: RequestPlan['query']; parameters: readonly BoundParameter[] },
  key: Key,
  services: Services,
  limits: RunLimits,
): Promise<object | null> {
  const { dryRun } = services.engine;
  // The number of bytes read depends on rows behind the fence.
  if (dryRun === null || key.pins.size > 0) return null;
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
  const statement = await composeStatement(plan, services, limits);
  const { bytesProcessed } = await dryRun(engineQuery(plan, statement, services), limits);
  return {
    bytes: bytesProcessed.toString(),
    price: (Number(bytesProcessed) / TIB) * services.pricePerTiB,
    currency: 'USD',
    budgetLeft: services.budgets.left(key),
  };
}

/** A fault with its place, for people and for editors: `start` and `end` count code points. */
function located({ span, ...fault }: TextFault, text: string): object {
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
  const points = (until: number): number => Array.from(text.slice(0, until)).length;
  return { start: points(start), end: points(end), startUtf16: start, endUtf16: end };
}
