/**
 * `npm run test:long -- hostile [N [SEED]]`: the requests known to have stopped the service, then N generated ones, then clients that do not
 * read, do not send, or leave; with N = 0 none of them. `-- soak [SECONDS [SEED]]`: those clients alone, and wide rows.
 */
import { generate } from './generate';
import { KNOWN, LARGE } from './known';
import { soak } from './soak';
import { aftermath, attack, boundOf, type Offence, type Outcome } from './suite';
import { type HostileRequest, Target } from './target';

async function main(count = 300, seed = 1): Promise<number> {
  const target = await Target.start({ duckdb: 1024, cache: 64, timeout: 10 });
  const show = ({ name, status, reason, milliseconds, blocked }: Outcome): void => {
    const answer = `${status} ${reason ?? ''}`.padEnd(26);
    const cost = `${milliseconds.toFixed(0).padStart(6)} ms, blocked ${blocked.toFixed(0).padStart(4)} ms`;
    process.stdout.write(`${name.padEnd(48)} ${answer} ${cost}, peak ${target.peakMemory.toFixed(0)} MiB\n`);
  };
  try {
    const known = count === 0 ? [] : [...KNOWN, ...LARGE];
    const offences = await attack(target, first(count, generate(seed), known), show);
    offences.push(...(await aftermath(target)), ...(await soaked(target, count === 0 ? 0 : CLIENTS, seed, false)));
    return tell(offences);
  } finally {
    await target.stop();
  }
}

/** Seconds in which clients come. */
const CLIENTS = 30;

async function soaked(target: Target, seconds: number, seed: number, withWide: boolean): Promise<readonly Offence[]> {
  const { clients, requests, p50, p99, offences } = await soak(target, seconds, seed, withWide);
  const { duckdb, cache } = target.limits;
  const counts = `${clients} clients in ${seconds} s, ${requests} ordinary requests`;
  const times = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  const memory = `peak ${target.peakMemory.toFixed(0)} of ${boundOf(target)} MiB (${target.peakByProcess}; DuckDB ${duckdb}, cache ${cache})`;
  process.stdout.write(`soak: seed ${seed}, ${counts}, ${times}, ${memory}, ${offences.length} offences\n`);
  return offences;
}

async function soakAlone(seconds = 120, seed = 1): Promise<number> {
  const target = await Target.start({ duckdb: 256, cache: 64, timeout: 10 });
  try {
    return tell(await soaked(target, seconds, seed, true));
  } finally {
    await target.stop();
  }
}

function tell(offences: readonly Offence[]): number {
  for (const { name, what } of offences) process.stdout.write(`OFFENCE ${name}: ${what}\n`);
  return offences.length;
}

function* first(
  count: number,
  generated: Generator<HostileRequest>,
  known: readonly HostileRequest[],
): Generator<HostileRequest> {
  yield* known;
  for (let i = 0; i < count; i++) yield generated.next().value as HostileRequest;
}

const [mode, ...rest] = process.argv.slice(2);
const run = mode === 'soak' ? soakAlone(...rest.map(Number)) : main(...[mode ?? [], rest].flat().map(Number));
run.then(
  (offences) => (process.exitCode = offences === 0 ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
