import type { Log } from '../engine/log';
import type { FromEngine } from './messages';

/** Milliseconds between two words about progress. */
const BETWEEN = 100;

/** The log of an engine's process: its lines are written by the service's. */
export function remoteLog(send: (message: FromEngine) => void): Log {
  let sentAt = -Infinity;
  return {
    info: (facts, message) => send({ kind: 'log', level: 'info', facts, message }),
    warn: (facts, message) => send({ kind: 'log', level: 'warn', facts, message }),
    error: (facts, message) => send({ kind: 'log', level: 'error', facts, message }),
    progress: (standing) => {
      const now = performance.now();
      if (standing !== null && now - sentAt < BETWEEN) return;
      sentAt = now;
      send({ kind: 'progress', standing });
    },
  };
}
