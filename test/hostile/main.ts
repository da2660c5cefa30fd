/** `npm run fuzz:hostile -- [N [SEED]]`: the requests known to have stopped the service, then N generated ones. */
import { generate } from './generate';
import { KNOWN, LARGE } from './known';
import { aftermath, attack, type Outcome } from './suite';
import { type HostileRequest, Target } from './target';

async function main(count = 300, seed = 1): Promise<number> {
  const target = await Target.start({ duckdb: 1024, cache: 64, timeout: 10 });
  const show = ({ name, status, reason, milliseconds, blocked }: Outcome): void => {
    const answer = `${status} ${reason ?? ''}`.padEnd(26);
    const cost = `${milliseconds.toFixed(0).padStart(6)} ms, blocked ${blocked.toFixed(0).padStart(4)} ms`;
    process.stdout.write(`${name.padEnd(48)} ${answer} ${cost}, peak ${target.peakMemory.toFixed(0)} MiB\n`);
  };
  try {
    const offences = await attack(target, first(count, generate(seed), [...KNOWN, ...LARGE]), show);
    offences.push(...(await aftermath(target)));
    for (const { name, what } of offences) process.stdout.write(`OFFENCE ${name}: ${what}\n`);
    return offences.length;
  } finally {
    await target.stop();
  }
}

function* first(
  count: number,
  generated: Generator<HostileRequest>,
  known: readonly HostileRequest[],
): Generator<HostileRequest> {
  yield* known;
  for (let i = 0; i < count; i++) yield generated.next().value as HostileRequest;
}

const [count, seed] = process.argv.slice(2).map(Number);
main(count, seed).then(
  (offences) => (process.exitCode = offences === 0 ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
