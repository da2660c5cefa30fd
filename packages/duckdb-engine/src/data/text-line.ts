/** Lines of plain text as rows: a message, and what the common forms of logs say beside it. */
import { levelOf } from '@logquay/googlesql/types';
import { longNumber, parseLine, printLine } from './json-line';
import { strictValue } from './strict-row';

type Row = Record<string, unknown>;

/** Characters of a line that may have a form: container runtimes write pieces of 16 KiB behind a time and a stream. */
const LONGEST = 16 * 1024 + 256;
/** A number that may be seconds since 1970, or smaller units: less is a duration. */
const LEAST_TIME = 1e8;
/** Milliseconds that the clock of who writes a log may be ahead. */
const AHEAD = 86_400_000;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Of syslog, by number. */
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];

/** A form of lines: what its match says; null: it is none after all. @param written when the file was, in milliseconds since 1970 */
interface Form {
  readonly pattern: RegExp;
  readonly row: (match: readonly (string | undefined)[], written: number) => Row | null;
}

const ISO = String.raw`(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)`;

/** In their order: the first that fits counts. */
const FORMS: readonly Form[] = [
  // RFC 5424.
  {
    pattern:
      /^<(\d{1,3})>1 (\S+) (\S+) (\S+) (\S+) (\S+) (-|(?:\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: \ufeff?(.*))?$/s,
    row: ([, priority, time, host, program, pid, id, data, message]) => {
      const severity = syslogSeverity(priority);
      const names = named({ host, program, pid, message_id: id, structured_data: data });
      const row = { severity, ...names, message: message ?? '' };
      return time === '-' ? row : timed(instant(time), row);
    },
  },
  // RFC 3164, and as it is written to files: without a priority, with the whole time.
  {
    pattern: new RegExp(
      String.raw`^(?:<(\d{1,3})>)?(?:(\w{3}) ([ \d]\d) (\d{2}:\d{2}:\d{2})|${ISO}) ([^\s[\]]+) ([^\s:[\]]{1,64})(?:\[(\d+)\])?: (.*)$`,
      's',
    ),
    row: ([, priority, month, day, time, iso, host, program, pid, message = ''], written) => {
      const timestamp = iso === undefined ? instantOfYear(month, day, time, written) : instant(iso);
      const isProgram = pid === undefined ? program === 'kernel' : levelOf('words', program) === null;
      // Messages of programs may begin so, too.
      if (iso !== undefined && priority === undefined && !isProgram) return null;
      const severity = priority === undefined ? severityIn(message) : syslogSeverity(priority);
      return timed(timestamp, { severity, ...named({ host, program, pid }), message });
    },
  },
  // Access logs of nginx and Apache, common or combined.
  {
    pattern:
      /^(?:[\w.-]+:\d+ )?([^\s"[\]]+) (\S+) (\S+) \[(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{4})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/,
    row: (match) => {
      const [line = '', address, , user, day, month, year, time, zone, request = '', status, bytes, referer, agent] =
        match;
      const [, method, path, protocol] = /^([A-Z]+) (\S+)(?: (HTTP\/[\d.]+))?$/.exec(request) ?? [];
      return {
        timestamp: instant(`${year}-${monthNumber(month)}-${day}T${time}${zone?.slice(0, 3)}:${zone?.slice(3)}`),
        ...named({ remote_addr: address, remote_user: user, method, path, protocol }),
        status: Number(status),
        ...(bytes === '-' ? {} : { bytes: Number(bytes) }),
        ...named({ referer, user_agent: agent }),
        message: line,
      };
    },
  },
  // The error log of nginx.
  {
    pattern: /^(\d{4})\/(\d{2})\/(\d{2}) (\d{2}:\d{2}:\d{2}) \[(\w+)\] (\d+)#\d+: (.*)$/s,
    row: ([, year, month, day, time, severity, pid, message]) =>
      timed(instant(`${year}-${month}-${day}T${time}Z`), { ...named({ severity, pid }), message }),
  },
  // That of Apache.
  {
    pattern:
      /^\[(?:\w{3} )?(\w{3}) (\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) (\d{4})\] \[(?:(\w*):)?(\w+)\] (?:\[pid (\d{1,10})(?::tid \d{1,20})?\] )?(?:\[client ([^\]]+)\] )?(.*)$/s,
    row: ([, month, day, time, year, module, severity, pid, client, message]) =>
      timed(instant(`${year}-${monthNumber(month)}-${day}T${time}Z`), {
        ...named({ severity, module, pid, remote_addr: client }),
        message,
      }),
  },
  // Container runtimes, whose message may be an event of its own.
  {
    pattern: new RegExp(String.raw`^${ISO} (stdout|stderr) [FP](?::\S+)? (.*)$`, 's'),
    row: ([, time, stream, message = '']) =>
      timed(instant(time), { stream, ...(jsonObject(message) ?? { severity: severityIn(message), message }) }),
  },
  // A time in front.
  {
    pattern: new RegExp(String.raw`^\[?${ISO}\]?[\s:|-]*(.*)$`, 's'),
    row: ([, time, message = '']) => timed(instant(time), { severity: severityIn(message), message }),
  },
];

/** A row at its time; null: what stands for the time is none, so that the line has another form. A row may have a time of its own. */
function timed(timestamp: string | undefined, row: Row): Row | null {
  return timestamp === undefined ? null : { timestamp, ...row };
}

/**
 * The row of a line and of those behind it that belong to it, as JSON; empty: there is none.
 *
 * @param written when the file was, in milliseconds since 1970: some forms name no year
 */
export function rowOfText(text: string, written: number): string {
  const trimmed = text.trimEnd();
  if (trimmed.trim() === '') return '';
  // Lines of JSON among others are rows.
  if (jsonObject(trimmed) !== null) return trimmed;
  const end = trimmed.indexOf('\n');
  const line = (end === -1 ? trimmed : trimmed.slice(0, end)).trimEnd();
  const row = line.length > LONGEST ? { message: line } : formed(line, written);
  const more = end === -1 ? '' : trimmed.slice(end);
  const message = row['message'];
  const first = typeof message === 'string' && longNumber(message) === null ? message : line;
  return printLine({ ...row, message: `${first}${more.replaceAll('\r\n', '\n')}` });
}

function formed(line: string, written: number): Row {
  for (const { pattern, row } of FORMS) {
    const match = pattern.exec(line);
    const found = match === null ? null : row(match, written);
    if (found !== null) return found;
  }
  return logfmt(line) ?? { severity: severityIn(line), message: line };
}

/** Whether a text is one JSON object, as lines of logs are. */
export function isJsonLine(text: string): boolean {
  return jsonObject(text) !== null;
}

function jsonObject(text: string): Row | null {
  if (!/^\s*\{/.test(text)) return null;
  try {
    return parseLine(text) as Row;
  } catch {
    return null;
  }
}

/** Values that are there. */
function named(values: Readonly<Record<string, string | undefined>>): Row {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== '-'));
}

const PAIR = /([A-Za-z_@][\w.@/-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?:\s+|$)/y;
const FEWEST_PAIRS = 2;

/** `key=value key="a value"`, its keys as columns; null: the line is something else. */
function logfmt(line: string): Row | null {
  const pairs: [string, unknown][] = [];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < line.length) {
    const [, key = '', quoted, plain = ''] = PAIR.exec(line) ?? [];
    if (key === '') return null;
    pairs.push([key, quoted === undefined ? plainValue(plain) : unescaped(quoted)]);
  }
  if (pairs.length < FEWEST_PAIRS) return null;
  const row: Row = Object.fromEntries(pairs);
  const valueOf = (...names: readonly string[]): unknown =>
    names.map((name) => row[name]).find((one) => one !== undefined);
  const given = valueOf('timestamp', 'ts', 'time', 't', '@timestamp');
  const time = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  const timestamp = Number(time) < LEAST_TIME ? undefined : instant(time);
  return {
    ...row,
    ...(timestamp === undefined ? {} : { timestamp }),
    severity: valueOf('severity', 'level', 'lvl'),
    message: valueOf('message', 'msg') ?? line,
  };
}

/** Numbers and booleans that are written as they are read again. */
function plainValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text !== '' && String(number) === text && Number.isFinite(number) ? number : text;
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** Words in front of a message in which its severity is looked for. */
const FIRST_WORDS = 6;

/** A level that is written as one: in capitals, in brackets, or first and with a colon behind it. */
function severityIn(message: string): string | undefined {
  const words = message
    .slice(0, 256)
    .split(/[\s|]+/)
    .slice(0, FIRST_WORDS);
  for (const [i, word] of words.entries()) {
    const [, open, name = '', end] = /^(\[|<)?([A-Za-z]{3,13})[\]>]?(:)?[,-]?$/.exec(word) ?? [];
    const isWritten = open !== undefined || (end !== undefined && i === 0) || /^(?!HTTP)[A-Z]+$/.test(name);
    if (isWritten && levelOf('words', name) !== null) return name;
  }
  return undefined;
}

function syslogSeverity(priority: string | undefined): string | undefined {
  return SEVERITIES[Number(priority) % SEVERITIES.length];
}

function monthNumber(name: string | undefined): string {
  return String(MONTHS.indexOf(name ?? '') + 1).padStart(2, '0');
}

/** A time that names no year: the last such time before the file was written. */
function instantOfYear(
  month: string | undefined,
  day: string | undefined,
  time: string | undefined,
  written: number,
): string | undefined {
  const year = new Date(written).getUTCFullYear();
  const inYear = (of: number): string | undefined =>
    instant(`${of}-${monthNumber(month)}-${day?.replace(' ', '0')}T${time}Z`);
  const found = inYear(year);
  return found === undefined || Date.parse(found) > written + AHEAD ? (inYear(year - 1) ?? found) : found;
}

/** undefined: it is no time. */
function instant(text: string | undefined): string | undefined {
  const value = text?.replace(',', '.').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  const found = value === undefined ? undefined : strictValue('TIMESTAMP', value);
  return typeof found === 'string' ? found : undefined;
}
