import { readdir } from 'node:fs/promises';
import { constants, monitorEventLoopDelay, performance, PerformanceObserver } from 'node:perf_hooks';

import type { Metrics } from './metrics';
import { LABELS } from './table';

/** Milliseconds between the timers by which the event loop's lag is measured. Of ten they take half of what an idle service takes of a core. */
const LAG_RESOLUTION = 50;

/**
 * Counts what the process itself takes: CPU, memory, files, garbage collection, the event loop's lag. Lag and
 * utilisation are those since the last scrape.
 *
 * @returns ends the measuring
 */
export function watchProcess(metrics: Metrics): () => void {
  metrics.read('startTime', () => [[{}, Date.now() / 1000 - process.uptime()]]);
  readMemory(metrics);
  readCpu(metrics);
  readOpenFiles(metrics);
  const ends = [watchEventLoop(metrics), watchGarbage(metrics)];
  return () => {
    for (const end of ends) end();
  };
}

function readMemory(metrics: Metrics): void {
  metrics.read('memory', () => {
    const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
    const values = { rss, heap_total: heapTotal, heap_used: heapUsed, external, array_buffers: arrayBuffers };
    return LABELS.memory.map((memory) => [{ memory }, values[memory]] as const);
  });
}

function readCpu(metrics: Metrics): void {
  metrics.read('cpu', () => {
    const used = process.cpuUsage();
    return LABELS.mode.map((mode) => [{ mode }, used[mode] / 1e6]);
  });
}

function readOpenFiles(metrics: Metrics): void {
  let open: number | null = null;
  metrics.read('openFiles', () => (open === null ? [] : [[{}, open]]));
  metrics.beforeScrape(async () => {
    // There is no such folder elsewhere than on Linux.
    open = await readdir('/proc/self/fd').then(
      (names) => names.length - 1, // less the folder itself, open while it is read
      () => null,
    );
  });
}

function watchEventLoop(metrics: Metrics): () => void {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION });
  delays.enable();
  metrics.read('eventLoopLag', () => {
    // Each delay is measured with the timer's own time in it.
    const lag = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION / 1000);
    const values = LABELS.statistic.map((statistic) => {
      const at = statistic === 'max' ? delays.max : delays.percentile(Number(statistic.slice(1)));
      return [{ statistic }, delays.count === 0 ? 0 : lag(at)] as const;
    });
    delays.reset();
    return values;
  });
  let last = performance.eventLoopUtilization();
  metrics.read('eventLoopUtilization', () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return [[{}, utilization]];
  });
  return () => {
    delays.disable();
  };
}

const KINDS: Readonly<Record<number, (typeof LABELS.gc)[number]>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak_callbacks',
};

interface GarbageEntry {
  /** Milliseconds. */
  readonly duration: number;
  readonly detail?: { readonly kind: number };
}

function watchGarbage(metrics: Metrics): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as readonly GarbageEntry[]) {
      metrics.count('gcDuration', { gc: KINDS[detail?.kind ?? 0] ?? 'other' }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
  };
}
