import { KNOWN } from './known';
import { Target } from './target';

async function main(): Promise<void> {
  const [only] = process.argv.slice(2);
  const target = await Target.start();
  try {
    for (const hostile of KNOWN) {
      if (only !== undefined && !hostile.name.includes(only)) continue;
      const { status, reason, milliseconds, turn } = await target.measure(hostile);
      process.stdout.write(
        `${hostile.name.padEnd(40)} ${String(status)} ${(reason ?? '').padEnd(22)} ${milliseconds.toFixed(0).padStart(6)} ms  turn ${turn.toFixed(0).padStart(6)} ms  peak ${target.peakMemory().toFixed(0)} MiB\n`,
      );
    }
  } finally {
    await target.stop();
  }
}

void main();
