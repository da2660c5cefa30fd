/** Live tails at two services, from before a part of their rows comes until all has been given. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EventClient } from '../../process/event-client';
import type { TenantRequest } from '../requests/request';
import { answerOfError, difference, type Answer } from './answer';
import type { Services } from './services';

type Pair = readonly [EventClient, EventClient];

export interface TailPair {
  readonly request: TenantRequest;
  readonly clients: Pair;
}

/** Milliseconds without a row after which all are taken to have come; and after which two tails that differ do differ. */
const QUIET = 3_000;
const PATIENCE = 60_000;

/** Opens the tails of the requests at both services. */
export async function openTails(requests: readonly TenantRequest[], services: Services): Promise<TailPair[]> {
  return Promise.all(
    requests.map(async (request) => {
      const open = (base: string): Promise<EventClient> =>
        EventClient.open(Number(new URL(base).port), request.path, request.parameters, {
          key: services.secretOf(request),
        });
      const clients = await Promise.all([open(services.bases[0]), open(services.bases[1])]);
      return { request, clients };
    }),
  );
}

/** What both have given when no more rows come, and the answers are alike or have had a minute to be. */
export async function answersOfTails(tails: readonly TailPair[]): Promise<(readonly [Answer, Answer])[]> {
  const answers = (): (readonly [Answer, Answer])[] =>
    tails.map(({ clients: [a, b] }) => [answerOf(a), answerOf(b)] as const);
  // Not those that show that a connection is alive.
  const given = (client: EventClient): number => client.events.filter(({ data }) => data !== '').length;
  const events = (): number => tails.reduce((sum, { clients: [a, b] }) => sum + given(a) + given(b), 0);
  const alike = (): boolean =>
    answers().every(([a, b], i) => {
      const request = tails[i]?.request;
      return request !== undefined && difference(request, a, b) === null;
    });
  const start = performance.now();
  for (let seen = -1; ;) {
    const waited = performance.now() - start;
    if (waited > PATIENCE || (seen === events() && alike())) break;
    seen = events();
    await sleep(QUIET);
  }
  for (const { clients } of tails) for (const client of clients) client.leave();
  return answers();
}

/** Rows of a tail as those of a run, and the error that ended it as that of one. How many rows came before is time. */
function answerOf(client: EventClient): Answer {
  const headers = new Map(
    Object.entries(client.response.headers).map(([name, value]) => [name, String(value)] as const),
  );
  const refusal = client.text.replace(/"requestId":"[^"]*"/, '"requestId":"same"');
  if (client.status !== 200) return answerOfError(client.status, headers, refusal);
  const { end } = client;
  if (end !== undefined) return answerOfError(null, headers, JSON.stringify({ error: JSON.parse(end.data) as object }));
  return { status: 200, headers, body: client.rows.join('\n'), reason: '', next: null };
}
