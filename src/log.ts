import { pino } from 'pino';

import { ServiceError } from './errors';
import { progressLines } from './log/progress-lines';
import type { Progress } from './log/standing';
import { StatusLine, type Terminal } from './log/status-line';

/** What the rooms may do with the log. Fields never hold a secret, a parameter's value or SQL. */
export type Log = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  /** Told now and then where long work stands: a line that is rewritten on a terminal, a few lines of the log elsewhere. */
  readonly progress?: Progress;
};

const LABELS = pino.levels.labels;
const OWN_FIELDS = new Set(['level', 'time', 'msg', 'err']);

/** Characters of lines that may wait for who reads the log; what comes on top of that is dropped. */
const MOST_WAITING = 16 * 1024 * 1024;

/** Characters that are written together, and how long a line waits for others at most, in milliseconds. */
const BATCH = 4096;
const LONGEST_WAIT = 100;

/** The process's log, and how many lines of it were dropped as nobody read it. */
export type OpenLog = Log & { readonly dropped: () => number };

/**
 * The process's log on `out`: JSON lines, or lines for people where `out` is a terminal. Where `out` is a file or pipe of
 * the process itself (it has an `fd`), lines are written behind and in batches: a reader that is slow or hangs holds
 * nothing up. What waits is written when the process ends.
 *
 * @param level lowest level written; `silent` for none
 */
export function openLog(level: string, out: Terminal & { isTTY?: boolean; fd?: number }): OpenLog {
  let dropped = 0;
  const options = { level, base: null, serializers: { err: describeError } };
  if (out.isTTY !== true && out.fd !== undefined) {
    const lines = pino.destination({ fd: out.fd, sync: false, minLength: BATCH, maxLength: MOST_WAITING });
    setInterval(() => lines.flush(), LONGEST_WAIT).unref();
    lines.on('drop', () => dropped++);
    return withProgress(pino(options, lines), { dropped: () => dropped });
  }
  if (out.isTTY !== true) return withProgress(pino(options, out), { dropped: () => dropped });
  const terminal = new StatusLine(out);
  const lines = { write: (json: string) => terminal.write(readable(json)) };
  const progress: Progress = (standing) => level !== 'silent' && terminal.show(standing);
  return Object.assign(pino(options, lines), { dropped: () => dropped, progress });
}

function withProgress<T extends object>(log: pino.Logger, more: T): Log & T {
  return Object.assign(log, {
    ...more,
    progress: progressLines((facts, message) => {
      log.info(facts, message);
    }),
  });
}

/**
 * Faults that the service words itself are told by their words. What an engine said to cause them can hold SQL and values,
 * so of that only the kind is told. Anything else is a bug: its own words and place are needed to find it.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) {
    return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
  }
  const { reason, message, cause } = error;
  if (cause === undefined) return { reason, message };
  return { reason, message, cause: reason === 'internalError' ? describeError(cause) : kindOf(cause) };
}

function kindOf(cause: unknown): unknown {
  if (!(cause instanceof Error)) return typeof cause;
  return 'code' in cause ? { name: cause.name, code: String(cause.code) } : { name: cause.name };
}

/** `12:03:44 info  message name=value`, an error's place below it. */
function readable(json: string): string {
  const record = JSON.parse(json) as Record<string, unknown> & { level: number; time: number; msg?: string };
  const fields = Object.entries(record)
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const time = new Date(record.time).toTimeString().slice(0, 8);
  const error = record.err as { stack?: string } | undefined;
  const place = error === undefined ? '' : `\n  ${error.stack ?? JSON.stringify(error)}`;
  return `${time} ${(LABELS[record.level] ?? '').padEnd(5)} ${record.msg ?? ''}${fields.join('')}${place}\n`;
}
