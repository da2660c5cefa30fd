import { identify, type Identity } from '../cache/identity';
import type { Usage } from '../cache/usage';
import { type Endpoint, readConsumerRequest, readParameters } from '../endpoints';
import type { Key } from '../keys/key';
import { chooseRepresentation } from '../rendering/representation';
import { checkDryRun } from './dry-run';
import { needsFence } from './fence';
import type { Plan } from './produce';
import { asksForRedaction } from './redact-header';
import type { Services, RunRequest } from './request';
import { checkRights } from './rights';

/** What a request asks for, judged in everything but its SQL. */
export interface Asked {
  readonly plan: Plan;
  readonly identity: Identity;
  readonly dryRun: boolean;
  /** For the warmer; null where the answer is not to be kept warm. */
  readonly usage: Usage | null;
}

/**
 * Reads and judges what a request asks for: first whether the key may send it, then the values, the pins among them.
 *
 * @throws ServiceError 406, 413, 415, 403, 400
 */
export async function readAsked(request: RunRequest, key: Key, endpoint: Endpoint, services: Services): Promise<Asked> {
  const representation = chooseRepresentation(request.header('accept').join(', '));
  const given = await request.timed('read', () => request.parameters());
  const { query, dryRun } = readConsumerRequest(endpoint, given);
  checkRights({ query, dryRun }, given, key, endpoint);
  checkDryRun(dryRun, services.engine);
  const parameters = readParameters(endpoint, given, key.pins);
  const redactionAsked = asksForRedaction(request.header('lf-endpoint-redact-pii'));
  const redacted = key.redact || endpoint.redactPii || redactionAsked;
  const fenced = needsFence(key);
  const plan = { endpoint, query, parameters, redacted, fenced, representation, payer: key.name, warm: false };
  const identity = identityOf(plan, services);
  const warmed = endpoint.cacheWarming > 0 && query === null && !dryRun;
  return { plan, identity, dryRun, usage: warmed ? usageOf(plan, identity.hash, key) : null };
}

export function identityOf(
  plan: Plan,
  { engine, escapeFormulas }: Pick<Services, 'engine' | 'escapeFormulas'>,
): Identity {
  const { id, revision } = plan.endpoint;
  return identify({ ...plan, endpointId: id, revision, target: engine.target, escapeFormulas });
}

/** What it takes to ask the same later: what the key pins is left to the key. */
function usageOf({ endpoint, parameters, redacted, representation }: Plan, hash: string, key: Key): Usage {
  const sent = parameters.filter(({ name }) => !key.pins.has(name)).map(({ name, value }) => [name, value] as const);
  const values = Object.fromEntries(sent);
  return { hash, endpointId: endpoint.id, values, redacted, representation, keyName: key.name };
}

/** Longest text that is remembered, in characters, and how many are. */
const LONGEST = 2048;
const MOST = 2000;

/**
 * Requests that were judged before: whoever sends the same text again, with the same key to the same endpoint, asks for
 * the same. A key or endpoint that has changed is another object, and nothing that was judged with the old one counts.
 */
export class JudgedRequests {
  readonly #judged = new Map<string, { readonly key: Key; readonly endpoint: Endpoint; readonly asked: Asked }>();

  recall(request: RunRequest, key: Key, endpoint: Endpoint): Asked | null {
    const text = textOf(request, key);
    const judged = text === null ? undefined : this.#judged.get(text);
    return judged?.key === key && judged.endpoint === endpoint ? judged.asked : null;
  }

  remember(request: RunRequest, key: Key, endpoint: Endpoint, asked: Asked): void {
    const text = textOf(request, key);
    if (text === null) return;
    // Those that are still sent are soon known again: cheaper than to keep them in order of their use.
    if (this.#judged.size >= MOST) this.#judged.clear();
    this.#judged.set(text, { key, endpoint, asked });
  }
}

/** Everything that `readAsked` reads; null where that is too long, or more than URL and headers. */
function textOf(request: RunRequest, key: Key): string | null {
  const { query, idOrName } = request;
  if (query === null || query.length > LONGEST) return null;
  const accept = request.header('accept').join(', ');
  const redact = request.header('lf-endpoint-redact-pii').join('\n');
  const text = `${key.name}\n${idOrName}\n${query}\n${accept}\n${redact}`;
  return text.length > LONGEST ? null : text;
}
