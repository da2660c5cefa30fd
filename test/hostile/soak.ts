/** Clients of all hostile kinds at once, for a while, beside an ordinary one. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Random } from '../sandbox/fuzz/random';
import { type Client, type ClientKey, cutOff, deaf, gone, mute, OpenClient, Ordinary, wide } from './clients';
import { aftermath, type Offence } from './suite';
import type { Target } from './target';

/** Milliseconds between two of a kind. */
const PAUSES: Readonly<Record<Exclude<ClientKey, 'ordinary'>, number>> = {
  deaf: 1500,
  mute: 500,
  gone: 500,
  wide: 5000,
};
/** Milliseconds after which a client that does not read, or does not send, has to be gone: Node's 60 and 30 seconds, and a busy machine. */
const CUT_OFF = 120_000;

export interface Soaked {
  readonly clients: number;
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly offences: readonly Offence[];
}

/** @param withWide whether rows are sent that are wide */
export async function soak(target: Target, seconds: number, seed: number, withWide = true): Promise<Soaked> {
  const random = new Random(seed);
  const end = performance.now() + seconds * 1000;
  const clients: OpenClient[] = [];
  let count = 0;
  const ordinary = new Ordinary(target);
  const open = async (pause: number, make: (random: Random, n: number) => Client): Promise<void> => {
    while (performance.now() < end) {
      clients.push(new OpenClient(make(random, count++), target.port));
      await sleep(pause);
    }
  };
  const sendWide = async (): Promise<void> => {
    while (withWide && performance.now() < end) {
      await target.send(wide(random, count++));
      await sleep(PAUSES.wide);
    }
  };
  await Promise.all([open(PAUSES.deaf, deaf), open(PAUSES.mute, mute), open(PAUSES.gone, gone), sendWide()]);
  const offences = await cutOff(target, clients, CUT_OFF);
  await ordinary.stop();
  for (const client of clients) client.leave();
  offences.push(...ordinary.offences, ...(await aftermath(target)));
  return {
    clients: count,
    requests: ordinary.milliseconds.length,
    p50: ordinary.percentile(0.5),
    p99: ordinary.percentile(0.99),
    offences,
  };
}
