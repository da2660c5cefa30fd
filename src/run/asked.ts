import { LRUCache } from 'lru-cache';

import { identify, type Identity } from '../cache/identity';
import { type Endpoint, readConsumerRequest, readParameters } from '../endpoints';
import type { Key } from '../keys/key';
import { chooseRepresentation } from '../rendering/representation';
import { checkDryRun } from './dry-run';
import type { Plan } from './produce';
import type { Rooms, RunRequest } from './request';
import { checkRights } from './rights';

/** What a request asks for, judged in everything but its SQL. */
export interface Asked {
  readonly plan: Plan;
  readonly identity: Identity;
  readonly dryRun: boolean;
}

/**
 * Reads and judges what a request asks for: first whether the key may send it, then the values, the pins among them.
 *
 * @throws ServiceError 406, 413, 415, 403, 400
 */
export async function readAsked(request: RunRequest, key: Key, endpoint: Endpoint, rooms: Rooms): Promise<Asked> {
  const representation = chooseRepresentation(request.header('accept').join(', '));
  const given = await request.timed('read', request.parameters);
  const { query, dryRun } = readConsumerRequest(endpoint, given);
  checkRights({ query, dryRun }, key, endpoint);
  checkDryRun(dryRun, rooms.engine);
  const parameters = readParameters(endpoint, given, key.pins);
  const redacted = key.redact || endpoint.redactPii || request.header('lf-endpoint-redact-pii').includes('true');
  const plan = { endpoint, query, parameters, redacted, representation, payer: key.name, warm: false };
  const question = { ...plan, endpointId: endpoint.id, revision: endpoint.revision, target: rooms.engine.target };
  return { plan, identity: identify(question), dryRun };
}

/** Longest text that is remembered, in characters, and how many are. */
const LONGEST = 2048;
const MOST = 2000;

/**
 * Requests that were judged before: whoever sends the same text again, with the same key to the same endpoint, asks for
 * the same. A key or endpoint that has changed is another object, and nothing that was judged with the old one counts.
 */
export class JudgedRequests {
  readonly #judged = new LRUCache<string, { readonly key: Key; readonly endpoint: Endpoint; readonly asked: Asked }>({
    max: MOST,
  });

  recall(request: RunRequest, key: Key, endpoint: Endpoint): Asked | null {
    const text = textOf(request, key);
    const judged = text === null ? undefined : this.#judged.get(text);
    return judged?.key === key && judged.endpoint === endpoint ? judged.asked : null;
  }

  remember(request: RunRequest, key: Key, endpoint: Endpoint, asked: Asked): void {
    const text = textOf(request, key);
    if (text !== null) this.#judged.set(text, { key, endpoint, asked });
  }
}

/** Everything that `readAsked` reads; null where that is too long, or more than URL and headers. */
function textOf({ query, idOrName, header }: RunRequest, key: Key): string | null {
  if (query === null || query.length > LONGEST) return null;
  const [accept, redact] = [header('accept'), header('lf-endpoint-redact-pii')];
  const text = `${key.name}\n${idOrName}\n${query}\n${accept.join(', ')}\n${redact.join('\n')}`;
  return text.length > LONGEST ? null : text;
}
