/** Who may do what: keys, endpoints, rates, and what a key may send. */
import { mayRun } from '../endpoints/catalogue';
import type { Endpoint } from '../endpoints/endpoint';
import type { RawEntry } from '../endpoints/raw-entries';
import type { ConsumerRequest } from '../endpoints/reserved-parameters';
import { ServiceError } from '../errors';
import { groupOf, unlimited } from '@logquay/duckdb-engine/concurrency';
import { TokenRefused } from '../keys/claims';
import type { Key } from '../keys/key';
import { type Engine, mayMean, nameIn } from '@logquay/duckdb-engine/contract';
import { tablesRead } from '@logquay/googlesql/syntax';
import type { Services } from './services';
import type { RunRequest } from './types';

/** Seconds after which a broken endpoint is worth another try. */
const BROKEN_RETRY = 60;

/**
 * Authenticates a request and finds the endpoint it may run. The request is counted against the rate of its key.
 *
 * @throws ServiceError unauthenticated, notFound, rateLimitExceeded
 */
export async function authorise(
  request: Pick<RunRequest, 'counted' | 'header' | 'idOrName' | 'record' | 'setHeaders'>,
  services: Pick<Services, 'keys' | 'catalogue' | 'rates'>,
): Promise<{ readonly key: Key; readonly endpoint: Endpoint }> {
  const key = await authenticated(request, services);
  if (request.counted !== true) await countRate(request, key, services);
  const endpoint = allowedEndpoint(services.catalogue.find(request.idOrName), key);
  request.record({ endpoint: endpoint.name });
  return { key, endpoint };
}

/** A token that does not fit counts in the rate of who it is. @throws ServiceError */
async function authenticated(
  request: Parameters<typeof authorise>[0],
  services: Parameters<typeof authorise>[1],
): Promise<Key> {
  try {
    return authenticate(request, services);
  } catch (error) {
    const account = error instanceof TokenRefused ? error.account : null;
    if (account !== null && request.counted !== true) await countRate(request, account, services);
    throw error;
  }
}

/**
 * Checks that a stored query means something to the engine. What is wrong with it concerns its operator alone.
 *
 * @throws ServiceError endpointBroken
 */
export async function checkResolves(endpoint: Endpoint, { catalogue }: Pick<Services, 'catalogue'>): Promise<void> {
  await catalogue.resolution(endpoint);
  if (!catalogue.isBroken(endpoint)) return;
  const message = 'The stored query of this endpoint has a fault. Its operator finds the reason in the log.';
  throw new ServiceError('endpointBroken', message, { retryAfter: BROKEN_RETRY });
}

/** The key of a request, recorded in its telemetry. @throws ServiceError unauthenticated */
export function authenticate(request: Pick<RunRequest, 'header' | 'record'>, { keys }: Pick<Services, 'keys'>): Key {
  const key = keys.authenticate((name) => request.header(name));
  request.record({ key: groupOf(key.name), account: key.name, pinned: key.pins.size > 0 });
  return key;
}

/** Where a caller finds the endpoints of its key. */
const ENDPOINTS_HINT = 'GET /api/endpoints lists the endpoints that a key may run.';

/** The endpoint, if the key may run it. @throws ServiceError notFound, with one message for both reasons */
export function allowedEndpoint(endpoint: Endpoint | null, key: Key): Endpoint {
  if (endpoint !== null && mayRun(key, endpoint)) return endpoint;
  throw new ServiceError('notFound', 'There is no such endpoint, or this key may not run it.', {
    hint: ENDPOINTS_HINT,
  });
}

/**
 * Checks what a key may send to an endpoint that it may run.
 *
 * @throws ServiceError accessDenied
 */
export function checkPermissions(
  { query, dryRun }: ConsumerRequest,
  given: readonly RawEntry[],
  key: Key,
  endpoint: Endpoint,
): void {
  // The number of bytes read depends on rows behind the fence.
  if (dryRun && key.pins.size > 0) {
    throw new ServiceError('accessDenied', 'A key with pinned parameters may not ask for a dry run.', {
      parameter: 'dry_run',
    });
  }
  if (query !== null && key.refusesSql === true) {
    const { language } = query;
    throw new ServiceError('accessDenied', `This token may not send "${language}".`, { parameter: language });
  }
  if (!redactionForced(key, endpoint)) return;
  // Redaction masks results: a query that takes values apart would get around it.
  if (query !== null) {
    const { language } = query;
    throw new ServiceError('accessDenied', `"${language}" may not be used where redaction is forced.`, {
      parameter: language,
    });
  }
  // So would a pattern, character by character: which rows match reveals what the mask hides.
  const pattern = endpoint.parameters.find(
    ({ name, type }) => type === 'regex' && !key.pins.has(name) && isSent(given, name),
  );
  if (pattern === undefined) return;
  throw new ServiceError(
    'accessDenied',
    `Parameter "${pattern.name}" is a regular expression, which may not be sent where redaction is forced.`,
    { parameter: pattern.name },
  );
}

/**
 * Checks that both key and endpoint allow an export.
 *
 * @throws ServiceError accessDenied
 */
export function checkMayExport(key: Pick<Key, 'export'>, { exportRows }: Pick<Endpoint, 'exportRows'>): void {
  if (key.export && exportRows > 0) return;
  const what = key.export ? 'The endpoint allows no exports.' : 'This key may not export.';
  throw new ServiceError('accessDenied', what, { parameter: 'export' });
}

/**
 * Checks that a query of a key with pins reads only tables whose schema is declared.
 *
 * @throws ServiceError accessDenied
 */
export function checkDeclaredTables(
  query: ConsumerRequest['query'],
  key: Pick<Key, 'pins'>,
  endpoint: Pick<Endpoint, 'query'>,
  engine: Pick<Engine, 'dataStatus'>,
): void {
  if (query === null || maySeeSchema(key, endpoint, engine)) return;
  throw new ServiceError(
    'accessDenied',
    `"${query.language}" may not be used with pinned parameters where the schema of a table is inferred from its rows.`,
    { parameter: query.language, hint: 'Its operator can declare the table in schema.json (docs/data.md).' },
  );
}

/**
 * Checks that the rows of a stored query tell a key with pins nothing of the columns that rows of others have made.
 *
 * @throws ServiceError accessDenied; as `StoredAnalyses.of`
 */
export async function checkShownColumns(
  query: ConsumerRequest['query'],
  key: Pick<Key, 'pins'>,
  endpoint: Endpoint,
  { engine, analyses }: Pick<Services, 'engine' | 'analyses'>,
): Promise<void> {
  // Nothing else is run of those who may not see the schema.
  if (query !== null || maySeeSchema(key, endpoint, engine)) return;
  const { showsInferred } = await analyses.of(endpoint, unlimited());
  if (!showsInferred) return;
  throw new ServiceError(
    'accessDenied',
    'The endpoint gives all columns, or whole records, of a table whose schema is inferred from its rows: it may not be run with pinned parameters.',
    { hint: 'Its operator can name the columns and fields, or declare the table in schema.json (docs/data.md).' },
  );
}

/** Whether a key may learn the types of an endpoint's tables: an inferred schema depends on rows of all projects. */
export function maySeeSchema(
  { pins }: Pick<Key, 'pins'>,
  endpoint: Pick<Endpoint, 'query'>,
  engine: Pick<Engine, 'dataStatus'>,
): boolean {
  return pins.size === 0 || readsDeclaredTables(endpoint, engine);
}

/** Whether the schemas of all tables that an endpoint reads are declared: whoever is shown them learns nothing of rows. */
export function readsDeclaredTables({ query }: Pick<Endpoint, 'query'>, engine: Pick<Engine, 'dataStatus'>): boolean {
  const status = engine.dataStatus?.() ?? null;
  if (status === null) return true;
  return tablesRead(query).every(({ node }) => {
    const read = nameIn(node.path.map(({ name }) => name));
    const meant = status.tables.filter(({ table }) => mayMean(read, table));
    return meant.length > 0 && meant.every(({ declared }) => declared);
  });
}

/** Whether a key may send queries of its own to an endpoint. */
export function mayQuery(key: Key, endpoint: Endpoint, engine: Pick<Engine, 'dataStatus'>): boolean {
  return (
    endpoint.sandbox &&
    key.refusesSql !== true &&
    !redactionForced(key, endpoint) &&
    maySeeSchema(key, endpoint, engine)
  );
}

/** Whether results are redacted and the key may not query behind the mask (docs/redaction.md). */
export function redactionForced(key: Key, endpoint: Pick<Endpoint, 'redactPii'>): boolean {
  return (key.redact || endpoint.redactPii) && !key.allowSql;
}

/** An empty text and null count as absent. */
function isSent(given: readonly RawEntry[], name: string): boolean {
  return given.some(
    (entry) =>
      entry.name === name && entry.value.kind !== 'null' && !('text' in entry.value && entry.value.text === ''),
  );
}

/** Counts a request against the limit of its key. @throws ServiceError rateLimitExceeded */
export async function countRate(
  request: Pick<RunRequest, 'setHeaders'>,
  key: Pick<Key, 'name' | 'rateLimit' | 'issuer'>,
  { rates }: Pick<Services, 'rates'>,
): Promise<void> {
  const { headers, refusal } = await rates.count(key);
  request.setHeaders(headers);
  if (refusal !== null) throw refusal;
}
