/** What every hostile request is held to. */
import { got } from './requests';
import type { HostileRequest, Measured, Target } from './target';

/** Milliseconds of the main thread's own time in one turn of its event loop. */
export const LONGEST_BLOCK = 50;
/** A longer block counts when it comes again as often: collecting garbage and compiling make one now and then. */
const REPEATS = 2;
/** MiB beside the limits of DuckDB and of the cache. */
const BASE_MEMORY = 512;

/** MiB that callers may have it hold: unread answers and bodies of requests (docs/operations.md). */
const HELD_MEMORY = 192;

export interface Offence {
  readonly name: string;
  readonly what: string;
}

export interface Outcome extends Measured {
  readonly name: string;
}

/** Sends one request after the other, each alone. `report` hears of each. */
export async function attack(
  target: Target,
  requests: Iterable<HostileRequest>,
  report: (outcome: Outcome) => void = () => undefined,
): Promise<Offence[]> {
  const offences: Offence[] = [];
  for (const request of requests) {
    let measured = await target.measure(request);
    for (let i = 0; i < REPEATS && measured.blocked > LONGEST_BLOCK; i++) {
      const again = await target.measure(request);
      measured = { ...again, blocked: Math.min(measured.blocked, again.blocked) };
    }
    const { name } = request;
    report({ name, ...measured });
    const { blocked, status, reason } = measured;
    if (blocked > LONGEST_BLOCK) offences.push({ name, what: `the loop was blocked for ${blocked.toFixed(0)} ms` });
    if (status === 0 || status === 500) offences.push({ name, what: `answered with ${status} ${reason ?? ''}` });
  }
  return offences;
}

/** MiB that all processes of the service may have resident. */
export function boundOf({ limits }: Target): number {
  return limits.duckdb + limits.cache + BASE_MEMORY + HELD_MEMORY;
}

/** Whether the service holds its bound on memory and still answers; what is wrong, if anything. */
export async function aftermath(target: Target): Promise<Offence[]> {
  const offences: Offence[] = [];
  const bound = boundOf(target);
  const peak = target.peakMemory;
  if (peak > bound) offences.push({ name: 'memory', what: `${peak.toFixed(0)} MiB resident, of ${bound}` });
  const ask = async (): Promise<number> =>
    (await target.send(got('an ordinary query', 'logs.all', 'project=default'))).status;
  let status = await ask();
  // Two seconds are little on a busy machine: late is asked again, any other failure is one.
  for (let again = 0; status === 504 && again < 5; again++) status = await ask();
  if (status !== 200) offences.push({ name: 'an ordinary query', what: `answered with ${status}` });
  return offences;
}
