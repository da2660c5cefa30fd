/** The columns that play a part in a log, whatever they are called: its time, message, severity and trace. */
import { type FieldPath, fieldsOf, followPath } from './field-path';
import { NUMBERS } from './type-names';
import type { NamedType, SqlType, StructField, TimeUnit, TimeUnits } from './types';

/**
 * Names by role, as loggers and pipelines write them, the first that is there counts. Case, `_`, `-` and `.` are ignored. A name
 * that says little stands last.
 */
export const ROLE_NAMES = {
  time: [
    'timestamp',
    'time',
    'ts',
    '@timestamp',
    '@t',
    'event_time',
    'event_timestamp',
    'log_time',
    'log_timestamp',
    'logged_at',
    'datetime',
    'date_time',
    'asctime',
    'time_local',
    'time_iso8601',
    'time_unix_nano',
    'timestamp_ms',
    '__realtime_timestamp',
    '_source_realtime_timestamp',
    'receive_timestamp',
    'received_at',
    'observed_timestamp',
    'observed_time_unix_nano',
    'ingestion_time',
    'occurred_at',
    'created_at',
    'start_time',
    'msec',
    'date',
  ],
  message: [
    'event_message',
    'message',
    'msg',
    '@m',
    '@mt',
    'body',
    'text_payload',
    'log',
    'line',
    'log_message',
    'rendered_message',
    'short_message',
    'full_message',
    'raw_message',
    'text',
    'content',
    'event',
    'event_name',
    'error_message',
    'description',
    'request',
    'raw',
  ],
  severity: [
    'severity',
    'severity_text',
    'level',
    'log_level',
    'levelname',
    'level_name',
    'lvl',
    '@l',
    'log_severity',
    'error_severity',
    'severity_number',
    'priority',
    'status',
    'status_code',
    'http_status',
    'http_status_code',
    'response_status',
    'response_code',
    'elb_status_code',
  ],
  trace: ['trace_id', 'trace', 'otel_trace_id', 'logging.googleapis.com/trace'],
} as const;

/** Of the messages' names, those that mean the message inside of a record, too. */
const NESTED_MESSAGES = ['event_message', 'message', 'msg', 'text_payload'];
/** Columns whose JSON holds an event, its message under `message`. */
const PAYLOADS = ['json_payload'];

/** From harmless to grave. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type Level = (typeof LEVELS)[number];

/** How a severity is written: as a word, or as a number of OpenTelemetry, pino, syslog or HTTP. */
export type SeverityScale = 'words' | 'otel' | 'pino' | 'syslog' | 'http';

export interface RoleField {
  /** Names from the column down, as the schema spells them. */
  readonly path: readonly string[];
  /** Of what is at the end; JSON for what is inside of JSON. */
  readonly type: SqlType;
}

export interface TimeRole extends RoleField {
  /** What a number of the column counts since 1970; null: the column is TIMESTAMP or DATETIME. */
  readonly unit: TimeUnit | null;
}

export interface SeverityRole extends RoleField {
  readonly scale: SeverityScale;
}

/** Plain data. null: no column has the role. */
export interface Roles {
  readonly time: TimeRole | null;
  /** null: the message is the row as JSON. */
  readonly message: RoleField | null;
  readonly severity: SeverityRole | null;
  readonly trace: RoleField | null;
}

/** Roles that were set, as paths; each holds where the columns have its path, and a type that it can have. */
export interface RoleSettings {
  readonly time?: { readonly path: readonly string[]; readonly unit: TimeUnit | null } | undefined;
  readonly message?: readonly string[] | undefined;
  readonly severity?: readonly string[] | undefined;
  readonly trace?: readonly string[] | undefined;
}

/** The roles of a table's columns: what is set, else what the names and types say. */
export function rolesOf(
  columns: readonly NamedType[],
  set: RoleSettings = {},
  timeUnits: TimeUnits = new Map(),
): Roles {
  return {
    time: setTime(columns, set.time, timeUnits) ?? inferTime(columns, timeUnits),
    message: setField(columns, set.message, isMessage) ?? inferMessage(columns),
    severity: setSeverity(columns, set.severity) ?? inferSeverity(columns),
    trace: setField(columns, set.trace, isText) ?? inferTrace(columns),
  };
}

/** Roles as services tell of them: without types, which the columns have. */
export interface DescribedRoles {
  readonly time: Pick<TimeRole, 'path' | 'unit'> | null;
  readonly message: Pick<RoleField, 'path'> | null;
  readonly severity: Pick<SeverityRole, 'path' | 'scale'> | null;
  readonly trace: Pick<RoleField, 'path'> | null;
}

export function describeRoles({ time, message, severity, trace }: Roles): DescribedRoles {
  return {
    time: time && { path: time.path, unit: time.unit },
    message: message && { path: message.path },
    severity: severity && { path: severity.path, scale: severity.scale },
    trace: trace && { path: trace.path },
  };
}

/** Roles of a table as settings for others with its columns: those of a query over it. */
export function roleSettings({ time, message, severity, trace }: DescribedRoles): RoleSettings {
  return {
    time: time ?? undefined,
    message: message?.path,
    severity: severity?.path,
    trace: trace?.path,
  };
}

/** The roles that are set to what none of some tables has. `isThere`: a column, but not of a type that can have the role. */
export function unfitRoles(
  tables: readonly (readonly NamedType[])[],
  set: RoleSettings,
): readonly { readonly role: keyof RoleSettings; readonly path: readonly string[]; readonly isThere: boolean }[] {
  return (['time', 'message', 'severity', 'trace'] as const).flatMap((role) => {
    const path = role === 'time' ? set.time?.path : set[role];
    if (path === undefined || tables.some((columns) => isSet(columns, set, role))) return [];
    return [{ role, path, isThere: tables.some((columns) => followPath(columns, path) !== null) }];
  });
}

function isSet(
  columns: readonly NamedType[],
  { time, message, severity, trace }: RoleSettings,
  role: keyof RoleSettings,
): boolean {
  switch (role) {
    case 'time':
      return setTime(columns, time, new Map()) !== null;
    case 'message':
      return setField(columns, message, isMessage) !== null;
    case 'severity':
      return setSeverity(columns, severity) !== null;
    case 'trace':
      return setField(columns, trace, isText) !== null;
  }
}

const isText = ({ kind }: SqlType): boolean => kind === 'STRING';
const isMessage = ({ kind }: SqlType): boolean => kind === 'STRING' || kind === 'JSON';
const isCounted = ({ kind }: SqlType): boolean => kind === 'INT64' || kind === 'FLOAT64';

/** What a path leads to, by the type that it can be read as. */
function typeAt(path: FieldPath): SqlType {
  if (path.kind === 'field') return path.type;
  if (path.kind === 'json') return { kind: 'JSON' };
  return (path.member ?? path.pair.value).type;
}

function setField(
  columns: readonly NamedType[],
  segments: readonly string[] | undefined,
  suits: (type: SqlType) => boolean,
): RoleField | null {
  const found = segments === undefined ? null : followPath(columns, segments);
  if (found === null || segments === undefined) return null;
  const type = typeAt(found);
  if (!suits(type) && type.kind !== 'JSON') return null;
  const { steps } = found;
  return { path: [...steps.map(({ name }) => name), ...segments.slice(steps.length)], type };
}

function setTime(columns: readonly NamedType[], set: RoleSettings['time'], timeUnits: TimeUnits): TimeRole | null {
  if (set === undefined) return null;
  const found = followPath(columns, set.path);
  if (found?.kind !== 'field' || found.steps.slice(0, -1).some(({ type }) => type.kind === 'ARRAY')) return null;
  const { type, steps } = found;
  const path = steps.map(({ name }) => name);
  if (type.kind === 'TIMESTAMP' || type.kind === 'DATETIME') return { path, type, unit: null };
  const unit = set.unit ?? (path.length === 1 ? timeUnits.get(path[0] ?? '') : undefined);
  return isCounted(type) && unit !== undefined ? { path, type, unit } : null;
}

function setSeverity(columns: readonly NamedType[], segments: readonly string[] | undefined): SeverityRole | null {
  const field = setField(columns, segments, ({ kind }) => kind === 'STRING' || NUMBERS.has(kind));
  if (field === null) return null;
  const { path, type } = field;
  const scale = scaleOf(path.at(-1) ?? '', type);
  return scale === null ? null : { ...field, scale };
}

/** A name without what spellings differ by. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '');
}

const TIME_NAMES = new Set(ROLE_NAMES.time.map(folded));

/** Whether a column of that name may be the time of its rows. */
export function isTimeName(name: string): boolean {
  return TIME_NAMES.has(folded(name));
}

/** The first field of the first of the names that suits. */
function named(
  fields: readonly StructField[],
  names: readonly string[],
  suits: (type: SqlType, name: string) => boolean,
): { readonly name: string; readonly type: SqlType } | null {
  for (const wanted of names) {
    for (const { name, type } of fields) {
      if (name !== null && folded(name) === folded(wanted) && suits(type, name)) return { name, type };
    }
  }
  return null;
}

function inferTime(columns: readonly NamedType[], timeUnits: TimeUnits): TimeRole | null {
  for (const kind of ['TIMESTAMP', 'DATETIME'] as const) {
    const found = named(columns, ROLE_NAMES.time, (type) => type.kind === kind);
    if (found !== null) return { path: [found.name], type: found.type, unit: null };
  }
  const counted = columns.filter(({ name, type }) => isCounted(type) && timeUnits.has(name));
  const number = named(counted, ROLE_NAMES.time, () => true);
  if (number !== null) return { path: [number.name], type: number.type, unit: timeUnits.get(number.name) ?? null };
  for (const kind of ['TIMESTAMP', 'DATETIME'] as const) {
    const [only, ...others] = columns.filter(({ type }) => type.kind === kind);
    if (only !== undefined && others.length === 0) return { path: [only.name], type: only.type, unit: null };
  }
  return null;
}

/** Fields of the records of a level, each with the path to it. */
interface Place {
  readonly path: readonly string[];
  readonly fields: readonly StructField[];
}

/** The columns, then the fields of their records and of their lists of records, and so on. */
function placesOf(columns: readonly NamedType[], depth: number): readonly (readonly Place[])[] {
  const levels: Place[][] = [[{ path: [], fields: columns }]];
  while (levels.length <= depth) {
    const below = (levels.at(-1) ?? []).flatMap(({ path, fields }) =>
      fields.flatMap(({ name, type }): Place[] => {
        const inner = fieldsOf(type);
        return name === null || inner.length === 0 ? [] : [{ path: [...path, name], fields: inner }];
      }),
    );
    levels.push(below);
  }
  return levels;
}

function inPlaces(
  levels: readonly (readonly Place[])[],
  names: readonly string[],
  suits: (type: SqlType, name: string) => boolean,
): RoleField | null {
  for (const places of levels) {
    for (const name of names) {
      for (const { path, fields } of places) {
        const found = named(fields, [name], suits);
        if (found !== null) return { path: [...path, found.name], type: found.type };
      }
    }
  }
  return null;
}

function inferMessage(columns: readonly NamedType[]): RoleField | null {
  const [top = [], nested = []] = placesOf(columns, 1);
  const text = inPlaces([top], ROLE_NAMES.message, isText) ?? inPlaces([nested], NESTED_MESSAGES, isText);
  if (text !== null) return text;
  const payload = named(columns, PAYLOADS, ({ kind }) => kind === 'JSON');
  return payload === null ? null : { path: [payload.name, 'message'], type: payload.type };
}

function inferSeverity(columns: readonly NamedType[]): SeverityRole | null {
  const isStatus = (name: string): boolean => scaleOf(name, { kind: 'INT64' }) === 'http';
  const levels = placesOf(columns, 2);
  // What somebody called a level says more than the status of a response, wherever it stands.
  for (const names of [ROLE_NAMES.severity.filter((name) => !isStatus(name)), ROLE_NAMES.severity.filter(isStatus)]) {
    const found = inPlaces(levels, names, (type, name) => scaleOf(name, type) !== null);
    const scale = found === null ? null : scaleOf(found.path.at(-1) ?? '', found.type);
    if (found !== null && scale !== null) return { ...found, scale };
  }
  return null;
}

function inferTrace(columns: readonly NamedType[]): RoleField | null {
  return inPlaces(placesOf(columns, 1), ROLE_NAMES.trace, isText);
}

const SEVERITY_NAMES: ReadonlySet<string> = new Set(ROLE_NAMES.severity.map(folded));

/** Whether a column of this name may hold severities. */
export function isSeverityName(name: string): boolean {
  return SEVERITY_NAMES.has(folded(name));
}

/** How a field writes severities, by its name and type; null: it is not known to hold any. */
export function severityAt(columns: readonly NamedType[], segments: readonly string[]): SeverityRole | null {
  return isSeverityName(segments.at(-1) ?? '') ? setSeverity(columns, segments) : null;
}

/** How a column of a name and type writes severities; null: in no way that is known. */
function scaleOf(name: string, { kind }: SqlType): SeverityScale | null {
  const key = folded(name);
  const byNumber: SeverityScale | null =
    key === 'severitynumber'
      ? 'otel'
      : key.endsWith('level')
        ? 'pino'
        : key === 'severity' || key === 'priority'
          ? 'syslog'
          : /status|responsecode/.test(key)
            ? 'http'
            : null;
  if (NUMBERS.has(kind)) return byNumber;
  if (kind === 'JSON') return byNumber ?? 'words';
  if (kind !== 'STRING') return null;
  // Some write these numbers as texts: journald, and servers in CSV.
  return key === 'priority' || byNumber === 'http' ? byNumber : 'words';
}

/** Words for levels, in lower case. */
const WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: [
    ...['debug', 'trace', 'verbose', 'fine', 'finer', 'finest', 'silly', 'dbug', 'dbg', 'trce', 'vrb'],
    ...['debug1', 'debug2', 'debug3', 'debug4', 'debug5', 'debug-1', 'd', 't', 'v'],
  ],
  info: ['info', 'information', 'informational', 'inf', 'log', 'statement', 'ok', 'http', 'i'],
  notice: ['notice'],
  warning: ['warning', 'warn', 'wrn', 'w'],
  error: ['error', 'err', 'eror', 'severe', 'fail', 'failure', 'e'],
  critical: ['critical', 'crit', 'fatal', 'ftl', 'dpanic', 'f'],
  alert: ['alert'],
  emergency: ['emergency', 'emerg', 'panic'],
};

/** Numbers for levels, both ends included; pino's stand for themselves, between tens there are none. */
const NUMBERS_OF: Readonly<Record<Exclude<SeverityScale, 'words'>, readonly (readonly [Level, number, number])[]>> = {
  otel: [
    ['debug', 1, 8],
    ['info', 9, 12],
    ['warning', 13, 16],
    ['error', 17, 20],
    ['critical', 21, 24],
  ],
  pino: [
    ['debug', 10, 10],
    ['debug', 20, 20],
    ['info', 30, 30],
    ['warning', 40, 40],
    ['error', 50, 50],
    ['critical', 60, 60],
  ],
  syslog: LEVELS.map((level, i) => [level, 7 - i, 7 - i] as const),
  http: [
    ['info', 100, 399],
    ['warning', 400, 499],
    ['error', 500, 599],
  ],
};

const BY_WORD: ReadonlyMap<string, Level> = new Map(
  LEVELS.flatMap((level) => WORDS[level].map((word) => [word, level] as const)),
);

/** The level that a value of a severity column means; null: none that is known, which has no colour. */
export function levelOf(scale: SeverityScale, value: unknown): Level | null {
  const text =
    typeof value === 'string'
      ? value.trim()
      : typeof value === 'number' || typeof value === 'bigint'
        ? String(value)
        : '';
  if (scale === 'words' || !/^\d{1,3}$/.test(text)) return BY_WORD.get(text.toLowerCase()) ?? null;
  const number = Number(text);
  return NUMBERS_OF[scale].find(([, from, to]) => number >= from && number <= to)?.[0] ?? null;
}

/**
 * GoogleSQL for whether a severity is one of the levels.
 *
 * @param field the column, as SQL; of JSON its text
 */
export function levelCondition(field: string, { scale, type }: SeverityRole, levels: readonly Level[]): string {
  const isNumber = NUMBERS.has(type.kind);
  const tests: string[] = [];
  if (!isNumber) {
    const words = levels.flatMap((level) => WORDS[level]).map((word) => `'${word}'`);
    tests.push(`LOWER(TRIM(${field})) IN (${words.join(', ')})`);
  }
  if (scale !== 'words') {
    const number = isNumber ? field : `SAFE_CAST(${field} AS INT64)`;
    for (const [from, to] of merged(NUMBERS_OF[scale].filter(([level]) => levels.includes(level)))) {
      tests.push(from === to ? `${number} = ${String(from)}` : `${number} BETWEEN ${String(from)} AND ${String(to)}`);
    }
  }
  if (tests.length === 0) return 'FALSE';
  return tests.length === 1 ? (tests[0] ?? '') : `(${tests.join(' OR ')})`;
}

/** Ranges that follow each other as one. */
function merged(ranges: readonly (readonly [Level, number, number])[]): readonly (readonly [number, number])[] {
  const all: [number, number][] = [];
  for (const [, from, to] of [...ranges].sort(([, a], [, b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && last[1] + 1 === from) last[1] = to;
    else all.push([from, to]);
  }
  return all;
}

/** From a number of a unit to microseconds. */
const TO_MICROS: Readonly<Record<TimeUnit, string>> = { s: ' * 1000000', ms: ' * 1000', us: '', ns: ' / 1000' };

/** GoogleSQL for the time of a row as TIMESTAMP or DATETIME; NULL for a number that is none. @param field the column, as SQL */
export function timeExpression(field: string, { type, unit }: TimeRole): string {
  if (unit === null) return field;
  if (type.kind === 'FLOAT64') {
    return `SAFE.TIMESTAMP_MICROS(SAFE_CAST(ROUND(${field}${TO_MICROS[unit]}) AS INT64))`;
  }
  if (unit === 'ns') return `SAFE.TIMESTAMP_MICROS(DIV(${field}, 1000))`;
  return `SAFE.TIMESTAMP_${unit === 's' ? 'SECONDS' : unit === 'ms' ? 'MILLIS' : 'MICROS'}(${field})`;
}
