import { identify } from '../cache/stores';
import type { Usage } from '../cache/usage';
import { partFor, type Endpoint } from '../endpoints/endpoint';
import {
  readMovingStarts,
  readParameters,
  type UnknownParameter,
  unknownParameters,
  withoutMovingStarts,
} from '../endpoints/parameters';
import { quoteValue, type RawEntry } from '../endpoints/raw-entries';
import {
  type ConsumerRequest,
  readConsumerRequest,
  readPaging,
  readSwitch,
  readTimestampForm,
} from '../endpoints/reserved-parameters';
import { ServiceError } from '../errors';
import type { Key } from '../keys/key';
import { misreadingsOf } from '@logquay/googlesql/lql';
import { chooseRepresentation, EXPORTED, PARQUET, type Representation } from '../rendering/representation';
import { checkDeclaredTables, checkMayExport, checkPermissions, checkShownColumns, maySeeSchema } from './authorise';
import { checkDryRun } from './execute';
import type { PlannedRequest } from './plan-cache';
import type { Services } from './services';
import { needsFence } from './statement';
import type { RequestPlan, RunRequest } from './types';

/** As messages and pages spell it. */
const NAME = 'LF-ENDPOINT-REDACT-PII';

/**
 * Whether `LF-ENDPOINT-REDACT-PII` asks for redaction: `true` in any case does, `false` and empty do not. Of several
 * values, in one header or several (RFC 9110, 5.3), one that asks is enough.
 *
 * @param values of the header, in order; none: it is absent
 * @throws ServiceError invalidParameter for any other value: ignoring it would return unmasked rows to a caller who
 *   requested masked ones
 */
export function asksForRedaction(values: readonly string[]): boolean {
  const given = values.flatMap((value) => value.split(',')).map((value) => value.trim().toLowerCase());
  if (given.every((value) => value === 'true' || value === 'false' || value === '')) return given.includes('true');
  throw new ServiceError('invalidParameter', `The header ${NAME} must be true or false.`, {
    parameter: NAME,
    allowed: ['true', 'false'],
  });
}

/**
 * Reads and validates a request, or takes its plan from the plan cache.
 *
 * @param form media types of which one is chosen
 * @throws ServiceError 406, 413, 415, 403, 400, in this order
 */
export async function planRequest(
  request: RunRequest,
  key: Key,
  endpoint: Endpoint,
  services: Services,
  form = request.header('accept').join(', '),
): Promise<RequestPlan> {
  const { idOrName, query } = request;
  const asked = { idOrName, query, form, redact: request.header('lf-endpoint-redact-pii') };
  const cached = services.plans.get(asked, key, endpoint, services.now);
  if (cached !== null) {
    // A table may have come since.
    checkDeclaredTables(cached.query, key, endpoint, services.engine);
    await checkShownColumns(cached.query, key, endpoint, services);
    if (cached.page !== null) checkPageable(cached, cached.representation, key, endpoint, services);
    return cached;
  }
  const parameters = (): Promise<readonly RawEntry[]> => request.timed('read', () => request.parameters());
  const plan = await readPlan(asked, parameters, key, endpoint, services);
  services.plans.set(asked, key, plan);
  return plan;
}

/** Sees of the request what the plan cache knows it by, and its parameters. */
async function readPlan(
  { form, redact }: PlannedRequest,
  readGiven: () => Promise<readonly RawEntry[]>,
  key: Key,
  whole: Endpoint,
  services: Services,
): Promise<RequestPlan> {
  // Parquet is the form of exports alone: what this request is is not known yet.
  if (!form.toLowerCase().includes(PARQUET)) chooseRepresentation(form);
  const given = await readGiven();
  const consumer = readConsumerRequest(whole, given);
  const endpoint = partFor(whole, consumer.query);
  checkPermissions(consumer, given, key, endpoint);
  const exported = !consumer.dryRun && readSwitch(endpoint, given, 'export');
  if (exported) checkMayExport(key, endpoint);
  const chosen = exported ? chooseRepresentation(form, EXPORTED) : chooseRepresentation(form);
  const asParquet = chosen === PARQUET;
  const representation = chosen === PARQUET ? 'application/x-ndjson' : chosen;
  checkDeclaredTables(consumer.query, key, endpoint, services.engine);
  await checkShownColumns(consumer.query, key, endpoint, services);
  checkDryRun(consumer.dryRun, services.engine);
  const unknown = readUnknown(endpoint, given);
  const now = services.now();
  const parameters = readParameters(endpoint, given, key.pins, now);
  const moving = readMovingStarts(endpoint, given, key.pins, now);
  const redactionRequested = asksForRedaction(redact);
  const redacted = key.redact || endpoint.redactPii || redactionRequested;
  // In files they have a type of their own.
  const isoTimestamps = readTimestampForm(endpoint, given) === 'iso' && !asParquet;
  const page = consumer.dryRun || exported ? null : readPaging(endpoint, given);
  if (page !== null) checkPageable(consumer, representation, key, endpoint, services);
  const purpose = consumer.dryRun ? 'dry run' : exported ? 'export' : 'run';
  const { query } = consumer;
  const misreadings = query?.language === 'lql' ? misreadingsOf(query.text) : [];
  const validated = {
    endpoint,
    query,
    parameters,
    moving,
    redacted,
    isoTimestamps,
    page,
    unknown,
    misreadings,
    representation,
    asParquet,
    purpose,
  } as const;
  return createPlan(validated, key, services);
}

/** @throws ServiceError invalidParameter for pages of anything but a stored query's rows as JSON */
export function checkPageable(
  { query }: Pick<ConsumerRequest, 'query'>,
  representation: Representation,
  key: Key,
  endpoint: Endpoint,
  { engine }: Pick<Services, 'engine'>,
): void {
  const refuse = (message: string): ServiceError =>
    new ServiceError('invalidParameter', message, { parameter: 'page_size' });
  if (query !== null) throw refuse('There are pages of stored queries alone: a query of your own has LIMIT and WHERE.');
  if (representation !== 'application/json') throw refuse('There are pages as JSON alone.');
  // Whether there are pages depends on types, and these here on rows of others.
  if (!maySeeSchema(key, endpoint, engine)) throw refuse('The schema of a table of this endpoint is not declared.');
}

/** @throws ServiceError invalidParameter where the endpoint takes no parameter that it does not know */
function readUnknown(endpoint: Endpoint, given: readonly RawEntry[]): readonly string[] {
  const unknown = unknownParameters(endpoint, given);
  const [first] = unknown;
  if (first !== undefined && endpoint.strictParams) throw refusalOf(first, endpoint);
  return unknown.map(({ name }) => name);
}

/** Why a parameter is refused where the endpoint takes none that it does not know. */
export function refusalOf(
  { name, near }: UnknownParameter,
  { parameters }: Pick<Endpoint, 'parameters'>,
): ServiceError {
  return new ServiceError('invalidParameter', `The endpoint has no parameter ${quoteValue(name)}.`, {
    parameter: name.slice(0, LONGEST_NAME),
    allowed: parameters.map((declared) => declared.name),
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
  });
}

/** Characters of a caller's name for a parameter in an error. */
const LONGEST_NAME = 128;

/** Completes a plan by what follows from its key. */
export function createPlan(
  validated: Omit<RequestPlan, 'fenced' | 'payer' | 'identity' | 'usageHash' | 'usage'>,
  key: Key,
  { engine, escapeFormulas }: Pick<Services, 'engine' | 'escapeFormulas'>,
): RequestPlan {
  const { id, revision, cacheWarming } = validated.endpoint;
  const plan = { ...validated, fenced: needsFence(key), payer: key.name };
  const question = { ...plan, endpointId: id, revision, target: engine.target, escapeFormulas };
  const identity = identify(question);
  // What the warmer repeats is the request, whose result is another one in the next hour.
  const parameters = withoutMovingStarts(plan.parameters, plan.moving);
  const usageHash = plan.moving === null ? identity.hash : identify({ ...question, parameters }).hash;
  const warmed =
    cacheWarming > 0 &&
    // Whose token is gone cannot be asked for again.
    key.issuer === undefined &&
    plan.query === null &&
    plan.purpose === 'run' &&
    !plan.isoTimestamps &&
    plan.page === null;
  return { ...plan, identity, usageHash, usage: warmed ? usageOf(plan, usageHash, key) : null };
}

/** What the warmer needs to repeat a request. Pinned values are not part of it: they are the key's at that time. */
function usageOf(
  { endpoint, parameters, moving, redacted, representation }: Omit<RequestPlan, 'identity' | 'usageHash' | 'usage'>,
  hash: string,
  key: Key,
): Usage {
  const isSent = (name: string): boolean => !key.pins.has(name) && moving?.names.includes(name) !== true;
  const sent = parameters.filter(({ name }) => isSent(name)).map(({ name, value }) => [name, value] as const);
  const values = Object.fromEntries(sent);
  return { hash, endpointId: endpoint.id, values, redacted, representation, keyName: key.name };
}
