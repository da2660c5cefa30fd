import { pino } from 'pino';

import { type Reason, ServiceError } from './errors';
import { LineWriter } from './log/line-writer';
import { progressLines, StatusLine, type Terminal } from './log/status-line';
import type { Progress } from '@logquay/duckdb-engine/contract';
import { visible } from './log/visible';

/** The log as other modules see it. Fields never hold a secret, a parameter's value or SQL. */
export type Log = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  /** Told now and then where long work stands: a line that is rewritten on a terminal, a few lines of the log elsewhere. */
  readonly progress?: Progress;
};

const LABELS = pino.levels.labels;
const OWN_FIELDS = new Set(['level', 'time', 'msg', 'err']);

/** Characters of lines that may wait for who reads the log; what comes on top of that is dropped. */
const MOST_WAITING = 16 * 1024 * 1024;

/** The process's log. */
export type OpenLog = Log & {
  /** Lines that could not be written. */
  readonly dropped: () => number;
  /** Called with the system's code (`ENOSPC`) when lines begin to be lost, and with null when they are written again. */
  readonly onFault: (listener: (fault: string | null) => void) => void;
};

/**
 * The process's log on `out`: JSON lines, or lines for people where `out` is a terminal. Where `out` is a file or pipe of
 * the process itself (it has an `fd`), lines are written in batches (line-writer.ts): neither a reader that hangs
 * nor a full disk holds anything up. What waits is written when the process ends.
 *
 * @param level lowest level written; `silent` for none
 */
export function openLog(level: string, out: Terminal & { isTTY?: boolean; fd?: number }): OpenLog {
  const never = { dropped: () => 0, onFault: () => undefined };
  const options = { level, base: null, serializers: { err: describeError } };
  if (out.isTTY !== true && out.fd !== undefined) {
    const lines = new LineWriter(out.fd, { mostWaiting: MOST_WAITING });
    const onFault: OpenLog['onFault'] = (listener) => lines.onFault(listener);
    return withProgress(pino(options, lines), { dropped: () => lines.dropped, onFault });
  }
  if (out.isTTY !== true) return withProgress(pino(options, out), never);
  const terminal = new StatusLine(out);
  const lines = { write: (json: string) => terminal.write(visible(readable(json))) };
  const progress: Progress = (standing) => level !== 'silent' && terminal.show(standing);
  return Object.assign(pino(options, lines), { ...never, progress });
}

function withProgress<T extends object>(log: pino.Logger, more: T): Log & T {
  return Object.assign(log, {
    ...more,
    progress: progressLines((facts, message) => {
      log.info(facts, message);
    }),
  });
}

/** Reasons whose cause is of our making: a bug, or the place of a fault in a stored query. */
const OWN_CAUSES: ReadonlySet<Reason> = new Set(['internalError', 'storedQueryFailed']);

/**
 * The service's own errors are logged by their message. Their causes, from an engine, can hold SQL and values: only their
 * kind is logged. Anything else is a bug and logged with message and stack.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) {
    if (!(error instanceof Error)) return { message: String(error) };
    // V8 quotes the text that it could not read (`JSON.parse`, `new RegExp`): that can be a row or a value.
    if (error.name === 'SyntaxError') return { message: error.name, stack: placesOf(error) };
    return { message: error.message, stack: error.stack };
  }
  const { reason, message, cause } = error;
  if (cause === undefined) return { reason, message };
  return { reason, message, cause: OWN_CAUSES.has(reason) ? describeError(cause) : kindOf(cause) };
}

/** Where an error was thrown, without its message. */
function placesOf({ name, message, stack = '' }: Error): string {
  const head = `${name}: ${message}`;
  return stack.startsWith(head) ? stack.slice(head.length).trimStart() : '';
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
