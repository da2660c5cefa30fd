import { identify } from '../cache/identity';
import type { Usage } from '../cache/usage';
import {
  type ConsumerRequest,
  type Endpoint,
  quoteValue,
  type RawEntry,
  readConsumerRequest,
  readParameters,
  readPaging,
  readSwitch,
  readTimestampForm,
  unknownParameters,
} from '../endpoints';
import { ServiceError } from '../errors';
import type { Key } from '../keys';
import { misreadingsOf } from '../lql';
import { chooseRepresentation, EXPORTED, type Representation } from '../rendering/representation';
import { checkDeclaredTables, checkMayExport, checkPermissions, maySeeSchema } from './authorise';
import { checkDryRun } from './dry-run';
import { needsFence } from './fence';
import { asksForRedaction } from './redact-header';
import type { Services } from './services';
import type { RequestPlan, RunRequest } from './types';

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
  const cached = services.plans.get(request, key, endpoint);
  if (cached !== null) {
    // A table may have come since.
    checkDeclaredTables(cached.query, key, endpoint, services.engine);
    return cached;
  }
  const acceptable = chooseRepresentation(form);
  const given = await request.timed('read', () => request.parameters());
  const consumer = readConsumerRequest(endpoint, given);
  checkPermissions(consumer, given, key, endpoint);
  const exported = !consumer.dryRun && readSwitch(endpoint, given, 'export');
  if (exported) checkMayExport(key, endpoint);
  const representation = exported ? chooseRepresentation(form, EXPORTED) : acceptable;
  checkDeclaredTables(consumer.query, key, endpoint, services.engine);
  checkDryRun(consumer.dryRun, services.engine);
  const unknown = readUnknown(endpoint, given);
  const parameters = readParameters(endpoint, given, key.pins);
  const redactionRequested = asksForRedaction(request.header('lf-endpoint-redact-pii'));
  const redacted = key.redact || endpoint.redactPii || redactionRequested;
  const isoTimestamps = readTimestampForm(endpoint, given) === 'iso';
  const page = consumer.dryRun || exported ? null : readPaging(endpoint, given);
  if (page !== null) checkPageable(consumer, representation, key, endpoint, services);
  const purpose = consumer.dryRun ? 'dry run' : exported ? 'export' : 'run';
  const { query } = consumer;
  const misreadings = query?.language === 'lql' ? misreadingsOf(query.text) : [];
  const validated = {
    endpoint,
    query,
    parameters,
    redacted,
    isoTimestamps,
    page,
    unknown,
    misreadings,
    representation,
    purpose,
  } as const;
  const plan = createPlan(validated, key, services);
  services.plans.set(request, key, plan);
  return plan;
}

/** @throws ServiceError invalidParameter for pages of anything but a stored query's rows as JSON */
function checkPageable(
  { query }: ConsumerRequest,
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
  if (first !== undefined && endpoint.strictParams) {
    throw new ServiceError('invalidParameter', `The endpoint has no parameter ${quoteValue(first.name)}.`, {
      parameter: first.name.slice(0, LONGEST_NAME),
      allowed: endpoint.parameters.map(({ name }) => name),
      ...(first.near === undefined ? {} : { hint: `Did you mean ${first.near}?` }),
    });
  }
  return unknown.map(({ name }) => name);
}

/** Characters of a caller's name for a parameter in an error. */
const LONGEST_NAME = 128;

/** Completes a plan by what follows from its key. */
export function createPlan(
  validated: Omit<RequestPlan, 'fenced' | 'payer' | 'identity' | 'usage'>,
  key: Key,
  { engine, escapeFormulas }: Pick<Services, 'engine' | 'escapeFormulas'>,
): RequestPlan {
  const { id, revision, cacheWarming } = validated.endpoint;
  const plan = { ...validated, fenced: needsFence(key), payer: key.name };
  const identity = identify({ ...plan, endpointId: id, revision, target: engine.target, escapeFormulas });
  const warmed =
    cacheWarming > 0 && plan.query === null && plan.purpose === 'run' && !plan.isoTimestamps && plan.page === null;
  return { ...plan, identity, usage: warmed ? usageOf(plan, identity.hash, key) : null };
}

/** What the warmer needs to repeat a request. Pinned values are not part of it: they are the key's at that time. */
function usageOf(
  { endpoint, parameters, redacted, representation }: Omit<RequestPlan, 'identity' | 'usage'>,
  hash: string,
  key: Key,
): Usage {
  const sent = parameters.filter(({ name }) => !key.pins.has(name)).map(({ name, value }) => [name, value] as const);
  const values = Object.fromEntries(sent);
  return { hash, endpointId: endpoint.id, values, redacted, representation, keyName: key.name };
}
