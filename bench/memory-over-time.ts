/** What each process of a service has in memory while it works: whether that grows with the work. */
import { existsSync, readFileSync } from 'node:fs';

import { processesOf } from './service';

/** Milliseconds between two looks. */
const INTERVAL = 100;
/** Parts of the time whose highest values are compared. */
const PARTS = 5;

interface Sample {
  readonly at: number;
  /** MiB that no file has: heaps and buffers. */
  readonly anonymous: number;
}

export class MemoryOverTime {
  /** MiB of all processes together, with what they share counted for each. */
  most = 0;
  readonly #samples = new Map<string, Sample[]>();
  readonly #began = performance.now();
  #ended = this.#began;
  readonly #timer: NodeJS.Timeout;

  /** @param pid of the service; its children are found */
  constructor(private readonly pid: number) {
    this.#timer = setInterval(() => this.#look(), INTERVAL);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#ended = performance.now();
  }

  /** For each process that there was its highest values, part by part of the time. */
  lines(): string[] {
    const length = (this.#ended - this.#began) / PARTS;
    return [...this.#samples].map(([name, samples]) => {
      const parts = Array.from({ length: PARTS }, (_, part) => {
        const within = samples.filter(({ at }) => Math.min(PARTS - 1, Math.floor(at / length)) === part);
        return within.length === 0 ? '-' : Math.max(...within.map(({ anonymous }) => anonymous)).toFixed(0);
      });
      return `${name.padEnd(28)} MiB in each fifth of the time: ${parts.join(', ')}`;
    });
  }

  #look(): void {
    const at = performance.now() - this.#began;
    let sum = 0;
    for (const pid of processesOf(this.pid)) {
      const file = `/proc/${String(pid)}/status`;
      if (!existsSync(file)) continue;
      const status = readFileSync(file, 'latin1');
      const mib = (field: string): number =>
        Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1024;
      sum += mib('VmRSS');
      const name = `${/^Name:\s+(.*)$/m.exec(status)?.[1] ?? ''} (${pid === this.pid ? 'service' : String(pid)})`;
      const samples = this.#samples.get(name) ?? [];
      samples.push({ at, anonymous: mib('RssAnon') });
      this.#samples.set(name, samples);
    }
    this.most = Math.max(this.most, sum);
  }
}
