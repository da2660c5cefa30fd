/** The configuration: environment variables, checked once at start (`.env.example`). */
import { inspect } from 'node:util';
import { z } from 'zod';

/** A value that must not be seen: it prints as `[secret]` wherever it lands, and only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** A start that cannot go on because of what the environment says: one line for each fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Setting<T> {
  /** As it stands in `.env.example`; empty: unset. */
  readonly default: string;
  /** What a value may be, for the message that refuses another. */
  readonly allowed: string;
  readonly schema: z.ZodType<T | null, string>;
}

/** `read` answers undefined for a value that is not allowed; an unset value is null. */
function setting<T>(defaultText: string, allowed: string, read: (text: string) => T | undefined): Setting<T> {
  const schema = z.string().transform((text, context): T | null => {
    if (text === '') return null;
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: allowed });
    return z.NEVER;
  });
  return { default: defaultText, allowed, schema };
}

const anyText = (text: string): string => text;
const secret = (text: string): Secret | undefined => (/^[\x21-\x7e]+$/.test(text) ? new Secret(text) : undefined);

const googleProject = (text: string): string | undefined => (/^[a-z0-9.:-]{1,100}$/i.test(text) ? text : undefined);

const oneOf =
  <const T extends string>(...values: T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

const integer =
  (least: number, most: number) =>
  (text: string): number | undefined =>
    /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;

/** Milliseconds of a number of seconds. */
const seconds =
  (least: number, most: number) =>
  (text: string): number | undefined =>
    /^\d{1,9}(\.\d{1,3})?$/.test(text) && Number(text) >= least && Number(text) <= most
      ? Math.round(Number(text) * 1000)
      : undefined;

function origin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase() ? url.origin : undefined;
}

function origins(text: string): '*' | readonly string[] | undefined {
  if (text.trim() === '*') return '*';
  const read = text.split(',').map((part) => origin(part.trim()));
  return read.every((one) => one !== undefined) ? read : undefined;
}

/** An address to which paths are added, as it is without a slash at its end. */
function baseUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const plain = url.origin + url.pathname;
  return url.href === plain && !/[?#]$/.test(text) ? plain.replace(/\/+$/, '') : undefined;
}

/** `name=value` with commas between, values percent-encoded, as OpenTelemetry has them; a value may be a credential. */
function headers(text: string): Secret | undefined {
  const form = /^[\w!#$&'*+.^`|~-]+=(?:[\x20-\x24\x26-\x2b\x2d-\x7e]|%[2-7][0-9a-f])*$/i;
  return text.split(',').every((pair) => form.test(pair.trim())) ? new Secret(text) : undefined;
}

/** `host:port`, with or without a scheme, as an origin. */
function emulatorOrigin(text: string): string | undefined {
  return origin((/^https?:\/\//i.test(text) ? text : `http://${text}`).replace(/\/$/, ''));
}

/** A fixed notion of now. */
export interface FixedClock {
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly text: string;
  readonly epochMicros: bigint;
}

function instant(text: string): FixedClock | undefined {
  const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)$/i.exec(text);
  if (form === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = ''] = form;
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Date.parse carries the 31st of February over into March.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined;
  const [zoneHours = 0, zoneMinutes = 0] = zone.length === 1 ? [] : zone.slice(1).split(':').map(Number);
  if (zoneHours > 23 || zoneMinutes > 59) return undefined;
  const offset = (zone.startsWith('-') ? -1 : 1) * (zoneHours * 60 + zoneMinutes) * 60_000;
  const micros = fraction.padEnd(6, '0');
  const epoch = local - offset;
  return {
    text: `${new Date(epoch).toISOString().slice(0, 19)}.${micros}Z`,
    epochMicros: BigInt(epoch) * 1000n + BigInt(micros),
  };
}

/** Characters below which a key can be guessed over the network. */
const SHORTEST_KEY = 16;

/** Every variable that the service reads, with its default and what it may be. */
export const SETTINGS = {
  PORT: setting('4000', 'a port number from 0 to 65535', integer(0, 65535)),
  HOST: setting('', 'a host name or address to listen on', anyText),
  ENGINE: setting('', 'duckdb or bigquery', oneOf('duckdb', 'bigquery')),
  QUERIES_DIR: setting('queries', 'a folder', anyText),
  DATA_DIR: setting('', 'a folder', anyText),
  CACHE_DIR: setting('.data/cache', 'a folder', anyText),
  DRAIN_DELAY: setting('5', 'a number of seconds from 0 to 3600', seconds(0, 3600)),
  API_KEY: setting('', 'printable ASCII characters without spaces', secret),
  LOGFLARE_PRIVATE_ACCESS_TOKEN: setting('', 'printable ASCII characters without spaces', secret),
  LOGFLARE_API_KEY: setting('', 'printable ASCII characters without spaces', secret),
  LOGFLARE_PUBLIC_ACCESS_TOKEN: setting('', 'printable ASCII characters without spaces', secret),
  LOGFLARE_SINGLE_TENANT: setting('', 'any text', anyText),
  LOGFLARE_SUPABASE_MODE: setting('', 'any text', anyText),
  POSTGRES_BACKEND_URL: setting('', 'any text', (text) => new Secret(text)),
  KEYS_FILE: setting('.data/keys.json', 'a file', anyText),
  REDIS_URL: setting('', 'a URL that begins with redis://, rediss://, redis+sentinel:// or redis+cluster://', (text) =>
    /^rediss?(\+sentinel|\+cluster)?:\/\/\S+$/.test(text) ? new Secret(text) : undefined,
  ),
  REDIS_PREFIX: setting('logquay', 'letters, digits and . _ : - (at most 64)', (text) =>
    /^[\w.:-]{1,64}$/.test(text) ? text : undefined,
  ),
  REDIS_TIMEOUT: setting('0.1', 'a number of seconds from 0.005 to 10', seconds(0.005, 10)),
  CACHE_MEMORY: setting('67108864', 'a number of bytes from 0 to 17179869184', integer(0, 17_179_869_184)),
  CACHE_MAX_ENTRY: setting('8388608', 'a number of bytes from 0 to 268435456', integer(0, 268_435_456)),
  STALE_IF_ERROR: setting('3600', 'a number of seconds from 0 to 604800', seconds(0, 604_800)),
  LEASE_TIME: setting('5', 'a number of seconds from 0.5 to 60', seconds(0.5, 60)),
  MAX_WARMED: setting('100', 'a number of results from 0 to 10000', integer(0, 10_000)),
  BIGQUERY_PROJECT_ID: setting('', 'a Google Cloud project id', googleProject),
  GOOGLE_PROJECT_ID: setting('', 'a Google Cloud project id', googleProject),
  GOOGLE_DATASET_ID_APPEND: setting('', 'any text', anyText),
  BIGQUERY_DATASET: setting('', 'a data set name of letters, digits and _', (text) =>
    /^\w{1,1024}$/.test(text) ? text : undefined,
  ),
  BIGQUERY_LOCATION: setting('', 'a location such as EU or europe-west3', (text) =>
    /^[a-z0-9-]{1,64}$/i.test(text) ? text : undefined,
  ),
  BIGQUERY_EMULATOR_HOST: setting('', 'host:port, with or without http://', emulatorOrigin),
  GOOGLE_APPLICATION_CREDENTIALS: setting('', 'a file', anyText),
  PUBLIC_URL: setting('', 'an http or https URL without user and query', baseUrl),
  CORS_ORIGINS: setting('', '* or a list of origins such as https://logs.example.com, with commas between', origins),
  DOCS: setting('', 'open, key or off', oneOf('open', 'key', 'off')),
  MCP: setting('', 'on or off', oneOf('on', 'off')),
  EXPLORER: setting('', 'open, key or off', oneOf('open', 'key', 'off')),
  CLOCK: setting('', 'an ISO 8601 instant with its zone, such as 2026-09-30T12:00:00Z', instant),
  QUERY_TIMEOUT: setting('30', 'a number of seconds from 0.001 to 3600', seconds(0.001, 3600)),
  TOKEN_SECRET: setting('', 'at least 16 printable ASCII characters without spaces', (text) =>
    text.length >= SHORTEST_KEY ? secret(text) : undefined,
  ),
  EXPORT_TIMEOUT: setting('600', 'a number of seconds from 1 to 86400', seconds(1, 86_400)),
  MAX_EXPORT_FILE: setting(
    '4294967296',
    'a number of bytes from 1048576 to 1099511627776',
    integer(1_048_576, 1_099_511_627_776),
  ),
  MAX_BYTES_BILLED: setting('10737418240', 'a number of bytes', (text) =>
    /^\d{1,18}$/.test(text) ? BigInt(text) : undefined,
  ),
  PRICE_PER_TIB: setting('6.25', 'a number of US dollars', (text) =>
    /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined,
  ),
  SANDBOX_DRY_RUN: setting('', 'on or off', oneOf('on', 'off')),
  MAX_RESPONSE_BYTES: setting('67108864', 'a number of bytes from 1024 to 268435456', integer(1024, 268_435_456)),
  CSV_ESCAPE_FORMULAS: setting('on', 'on or off', oneOf('on', 'off')),
  COLLECT: setting('off', 'on or off', oneOf('on', 'off')),
  COLLECT_SOURCES: setting('', 'a file', anyText),
  COLLECT_RETENTION: setting('7', 'a number of days from 0 to 36500', integer(0, 36_500)),
  COLLECT_MIN_FREE: setting('536870912', 'a number of bytes', integer(0, Number.MAX_SAFE_INTEGER)),
  COLLECT_MAX_BODY: setting('5242880', 'a number of bytes from 65536 to 12582912', integer(65_536, 12_582_912)),
  QUERY_ERRORS: setting('off', 'off or logflare', oneOf('off', 'logflare')),
  STRICT_START: setting('off', 'on or off', oneOf('on', 'off')),
  MAX_RUNNING_PER_KEY: setting('16', 'a number of queries from 1 to 1000', integer(1, 1000)),
  MAX_RUNNING: setting('64', 'a number of queries from 1 to 10000', integer(1, 10_000)),
  MAX_WAITING: setting('100', 'a number of queries from 0 to 100000', integer(0, 100_000)),
  MAX_TAILS_PER_KEY: setting('100', 'a number of listeners from 0 to 100000', integer(0, 100_000)),
  MAX_TAILS: setting('1000', 'a number of listeners from 0 to 100000', integer(0, 100_000)),
  RATE_LIMIT: setting('100', 'a number of requests per second from 0 to 1000000', integer(0, 1_000_000)),
  ENDPOINT_RATE_LIMIT: setting('0', 'a number of requests per second from 0 to 1000000', integer(0, 1_000_000)),
  DAILY_BYTES: setting('', 'a number of bytes', (text) => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined)),
  METRICS_PORT: setting('', 'a port number from 0 to 65535', integer(0, 65535)),
  METRICS_KEY: setting('', 'printable ASCII characters without spaces', secret),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting('', 'an http or https URL without user and query', baseUrl),
  OTEL_EXPORTER_OTLP_HEADERS: setting('', 'a list of NAME=VALUE with commas between, values percent-encoded', headers),
  OTEL_TRACES_SAMPLER: setting(
    'parentbased_always_on',
    'parentbased_always_on, parentbased_always_off or parentbased_traceidratio',
    oneOf('parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting('1', 'a number from 0 to 1', (text) =>
    /^(0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1 ? Number(text) : undefined,
  ),
  OTEL_SERVICE_NAME: setting('logquay', 'at most 255 printable characters', (text) =>
    /^\P{C}{1,255}$/u.test(text) ? text : undefined,
  ),
  DUCKDB_MEMORY_LIMIT: setting('1GB', 'a size such as 512MB or 4GB', (text) =>
    /^[1-9]\d{0,5}(MB|GB|MiB|GiB)$/.test(text) ? text : undefined,
  ),
  DUCKDB_THREADS: setting('2', 'a number of threads from 1 to 256', integer(1, 256)),
  LOG_SQL: setting('off', 'on or off', oneOf('on', 'off')),
  LOG_LEVEL: setting(
    'info',
    'trace, debug, info, warn, error or silent',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  ),
};

/** Of these, each says that the service is part of a Supabase stack, in Logflare's place. */
const STACK_SETTINGS = [
  'LOGFLARE_SINGLE_TENANT',
  'LOGFLARE_SUPABASE_MODE',
  'LOGFLARE_PUBLIC_ACCESS_TOKEN',
  'GOOGLE_DATASET_ID_APPEND',
  'POSTGRES_BACKEND_URL',
] as const satisfies readonly (keyof typeof SETTINGS)[];

/** What the local BigQuery calls its project and data set unless told otherwise. */
const EMULATED = { project: 'test', dataset: 'logs' };

export interface BigQueryConfig {
  readonly projectId: string;
  readonly dataset: string;
  /** null: BigQuery finds it by the data set. */
  readonly location: string | null;
  /** Origin of a local BigQuery; null: Google's. */
  readonly emulator: string | null;
  /** Path of a service account's file; null: where Google's libraries look. */
  readonly credentials: string | null;
}

export interface RedisConfig {
  readonly url: Secret;
  /** What the names of all keys begin with. */
  readonly prefix: string;
  /** Milliseconds that one command may take. */
  readonly timeout: number;
}

export interface CacheConfig {
  /** Bytes of results cached in the process. */
  readonly memory: number;
  /** Bytes of one result, compressed forms included, beyond which it is not kept. */
  readonly maxEntry: number;
  /** Milliseconds that a result may serve on after its lifetime when a refresh fails. */
  readonly staleIfError: number;
  /** Milliseconds after which a run whose process has died is taken over by another process. */
  readonly leaseTime: number;
  /** Results that are refreshed before they expire. */
  readonly maxWarmed: number;
}

export interface TracingConfig {
  /** Where a collector takes OTLP over HTTP: a URL, to which the kind's path is added. */
  readonly collector: string;
  /** Headers for it, as they are written in the setting; null: none. */
  readonly headers: Secret | null;
  readonly serviceName: string;
  /** How much of the requests without a trace of the caller's begin one, 0 to 1. */
  readonly begun: number;
}

export interface CollectConfig {
  readonly dataDir: string;
  /** Which further source feeds which table, as a file; null: the stock sources alone. */
  readonly sources: string | null;
  /** Days that daily files are kept; 0: for ever. */
  readonly retention: number;
  /** Bytes of free space below which nothing is stored. */
  readonly minFree: number;
  /** Bytes of a body. */
  readonly maxBody: number;
  /** A key that may only send logs; null: the keys file has them all. */
  readonly publicToken: Secret | null;
}

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly queriesDir: string;
  readonly cacheDir: string;
  readonly engine: 'duckdb' | 'bigquery';
  readonly duckdb: { readonly dataDir: string | null; readonly memory: string; readonly threads: number };
  /** null on the embedded engine. */
  readonly bigquery: BigQueryConfig | null;
  readonly apiKey: Secret | null;
  /** null: logs are not taken in. */
  readonly collect: CollectConfig | null;
  readonly keysFile: string;
  /** Whether KEYS_FILE was set, rather than its default taken. */
  readonly keysFileGiven: boolean;
  readonly redis: RedisConfig | null;
  readonly cache: CacheConfig;
  /** Where callers reach the service, through whatever stands in front of it; null: not known. */
  readonly publicUrl: string | null;
  readonly corsOrigins: '*' | readonly string[];
  readonly docs: 'open' | 'key' | 'off';
  /** Whether assistants are answered at /mcp. */
  readonly mcp: boolean;
  readonly explorer: 'open' | 'key' | 'off';
  readonly clock: FixedClock | null;
  /** Milliseconds between the signal to end and the closing of the listener. */
  readonly drainDelay: number;
  /** Milliseconds from a request's arrival to its deadline, where the endpoint says nothing else. */
  readonly queryTimeout: number;
  /** Milliseconds from a request's arrival to the deadline of an export. */
  readonly exportTimeout: number;
  /** Bytes of the file that an export as Parquet is written to. */
  readonly maxExportFile: number;
  /** What page tokens are sealed with; null: each process has its own. */
  readonly tokenSecret: Secret | null;
  readonly maxBytesBilled: bigint;
  /** US dollars for a TiB that a query reads: for the estimate of a dry run. */
  readonly pricePerTiB: number;
  /** Whether BigQuery itself judges consumer queries by a dry run, the sandbox's last wall. */
  readonly sandboxDryRun: boolean;
  readonly maxResponseBytes: number;
  /** Whether CSV keeps spreadsheets from computing texts of a result. */
  readonly csvEscapeFormulas: boolean;
  /** Whether errors of consumer queries are answered as Logflare does, with status 200. */
  readonly logflareErrors: boolean;
  /** Whether a stored query that does not resolve stops the start. */
  readonly strictStart: boolean;
  readonly maxRunningPerKey: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Live tails at a time, of a key and of all. */
  readonly maxTailsPerKey: number;
  readonly maxTails: number;
  /** Requests per second, of a key that says nothing else and of an endpoint; 0: as many as come. */
  readonly rateLimit: number;
  readonly endpointRateLimit: number;
  /** Bytes that a key may have billed in a UTC day where it says nothing else; null: as many as it likes. */
  readonly dailyBytes: bigint | null;
  /** Where `/metrics` is answered without a key; null: nowhere. */
  readonly metricsPort: number | null;
  /** What `/metrics` on the service's own port asks for; null: it is not there. */
  readonly metricsKey: Secret | null;
  /** null: requests are not traced. */
  readonly tracing: TracingConfig | null;
  /** Whether the log tells the SQL of requests. */
  readonly logSql: boolean;
  readonly logLevel: string;
  /** What the operator should read at start. */
  readonly warnings: readonly string[];
}

function weakKeys(keys: readonly (readonly [name: string, key: Secret | null])[]): string[] {
  return keys
    .filter(([, key]) => key !== null && key.reveal().length < SHORTEST_KEY)
    .map(
      ([name]) =>
        `${name} is shorter than ${String(SHORTEST_KEY)} characters: it can be guessed. Take a long random text.`,
    );
}

function requiredDataset(ownProject: string | null, stackProject: string | null): string {
  if (ownProject !== null || stackProject === null) return 'required by ENGINE=bigquery.';
  return "required on BigQuery, which GOOGLE_PROJECT_ID chooses: Logflare's data set is its user's id and GOOGLE_DATASET_ID_APPEND (_default where that is unset).";
}

/**
 * Reads and checks the environment. An empty value counts as unset.
 *
 * @param terminal whether a person has started the service and ends it with Ctrl-C: no load balancer has to turn away
 * @throws ConfigError with one line for each bad value: its name and what is allowed, never the value (it may be a secret)
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>, terminal = false): Config {
  const faults: string[] = [];
  function value<T>(name: string, { default: fallback, schema }: Setting<T>): T | null {
    const result = schema.safeParse(environment[name] || fallback);
    if (result.success) return result.data;
    faults.push(`${name}: allowed is ${result.error.issues[0]?.message}.`);
    return null;
  }
  /** For settings that have a default. After a fault the value is never used. */
  function given<T>(name: string, one: Setting<T>): T {
    return value(name, one) as T;
  }

  const S = SETTINGS;
  const emulator = value('BIGQUERY_EMULATOR_HOST', S.BIGQUERY_EMULATOR_HOST);
  const dataDir = value('DATA_DIR', S.DATA_DIR);
  const ownProject = value('BIGQUERY_PROJECT_ID', S.BIGQUERY_PROJECT_ID);
  const stackProject = value('GOOGLE_PROJECT_ID', S.GOOGLE_PROJECT_ID);
  const projectId = ownProject ?? stackProject ?? (emulator && EMULATED.project);
  const dataset = value('BIGQUERY_DATASET', S.BIGQUERY_DATASET) ?? (emulator && EMULATED.dataset);
  const location = value('BIGQUERY_LOCATION', S.BIGQUERY_LOCATION);
  const credentials = value('GOOGLE_APPLICATION_CREDENTIALS', S.GOOGLE_APPLICATION_CREDENTIALS);
  // Stacks pass Logflare's project on wherever the logs are.
  const named = ownProject !== null || emulator !== null || (stackProject !== null && dataDir === null);
  const engine = value('ENGINE', S.ENGINE) ?? (named ? 'bigquery' : 'duckdb');
  const embedded = engine === 'duckdb';
  const docs = value('DOCS', S.DOCS) ?? (embedded ? 'open' : 'key');
  const clock = value('CLOCK', S.CLOCK);
  const metricsKey = value('METRICS_KEY', S.METRICS_KEY);
  const redisUrl = value('REDIS_URL', S.REDIS_URL);
  const collector = value('OTEL_EXPORTER_OTLP_ENDPOINT', S.OTEL_EXPORTER_OTLP_ENDPOINT);
  const collectorHeaders = value('OTEL_EXPORTER_OTLP_HEADERS', S.OTEL_EXPORTER_OTLP_HEADERS);
  const ratio = given('OTEL_TRACES_SAMPLER_ARG', S.OTEL_TRACES_SAMPLER_ARG);
  const sampler = given('OTEL_TRACES_SAMPLER', S.OTEL_TRACES_SAMPLER);
  const begun = { parentbased_always_on: 1, parentbased_always_off: 0, parentbased_traceidratio: ratio }[sampler];
  const serviceName = given('OTEL_SERVICE_NAME', S.OTEL_SERVICE_NAME);
  const publicToken = value('LOGFLARE_PUBLIC_ACCESS_TOKEN', S.LOGFLARE_PUBLIC_ACCESS_TOKEN);
  const fullKeys = (['API_KEY', 'LOGFLARE_PRIVATE_ACCESS_TOKEN', 'LOGFLARE_API_KEY'] as const).map(
    (name) => [name, value(name, S[name])] as const,
  );
  const collecting = given('COLLECT', S.COLLECT) === 'on';
  const collect = {
    sources: value('COLLECT_SOURCES', S.COLLECT_SOURCES),
    retention: given('COLLECT_RETENTION', S.COLLECT_RETENTION),
    minFree: given('COLLECT_MIN_FREE', S.COLLECT_MIN_FREE),
    maxBody: given('COLLECT_MAX_BODY', S.COLLECT_MAX_BODY),
    publicToken,
  };
  const [keyName, apiKey] = fullKeys.find(([, key]) => key !== null) ?? ['API_KEY', null];

  const config: Config = {
    port: given('PORT', S.PORT),
    host: value('HOST', S.HOST) ?? (embedded ? '127.0.0.1' : '0.0.0.0'),
    queriesDir: given('QUERIES_DIR', S.QUERIES_DIR),
    cacheDir: given('CACHE_DIR', S.CACHE_DIR),
    engine,
    duckdb: {
      dataDir,
      memory: given('DUCKDB_MEMORY_LIMIT', S.DUCKDB_MEMORY_LIMIT),
      threads: given('DUCKDB_THREADS', S.DUCKDB_THREADS),
    },
    bigquery: embedded ? null : { projectId: projectId ?? '', dataset: dataset ?? '', location, emulator, credentials },
    apiKey,
    collect: collecting && dataDir !== null ? { dataDir, ...collect } : null,
    keysFile: given('KEYS_FILE', S.KEYS_FILE),
    keysFileGiven: Boolean(environment.KEYS_FILE),
    redis: redisUrl && {
      url: redisUrl,
      prefix: given('REDIS_PREFIX', S.REDIS_PREFIX),
      timeout: given('REDIS_TIMEOUT', S.REDIS_TIMEOUT),
    },
    cache: {
      memory: given('CACHE_MEMORY', S.CACHE_MEMORY),
      maxEntry: given('CACHE_MAX_ENTRY', S.CACHE_MAX_ENTRY),
      staleIfError: given('STALE_IF_ERROR', S.STALE_IF_ERROR),
      leaseTime: given('LEASE_TIME', S.LEASE_TIME),
      maxWarmed: given('MAX_WARMED', S.MAX_WARMED),
    },
    publicUrl: value('PUBLIC_URL', S.PUBLIC_URL),
    corsOrigins: value('CORS_ORIGINS', S.CORS_ORIGINS) ?? [],
    docs,
    mcp: (value('MCP', S.MCP) ?? (embedded ? 'on' : 'off')) === 'on',
    explorer: value('EXPLORER', S.EXPLORER) ?? docs,
    clock,
    drainDelay: terminal && !environment.DRAIN_DELAY ? 0 : given('DRAIN_DELAY', S.DRAIN_DELAY),
    queryTimeout: given('QUERY_TIMEOUT', S.QUERY_TIMEOUT),
    tokenSecret: value('TOKEN_SECRET', S.TOKEN_SECRET),
    exportTimeout: given('EXPORT_TIMEOUT', S.EXPORT_TIMEOUT),
    maxExportFile: given('MAX_EXPORT_FILE', S.MAX_EXPORT_FILE),
    maxBytesBilled: given('MAX_BYTES_BILLED', S.MAX_BYTES_BILLED),
    pricePerTiB: given('PRICE_PER_TIB', S.PRICE_PER_TIB),
    sandboxDryRun: value('SANDBOX_DRY_RUN', S.SANDBOX_DRY_RUN) !== 'off',
    maxResponseBytes: given('MAX_RESPONSE_BYTES', S.MAX_RESPONSE_BYTES),
    csvEscapeFormulas: given('CSV_ESCAPE_FORMULAS', S.CSV_ESCAPE_FORMULAS) === 'on',
    logflareErrors: given('QUERY_ERRORS', S.QUERY_ERRORS) === 'logflare',
    strictStart: given('STRICT_START', S.STRICT_START) === 'on',
    maxRunningPerKey: given('MAX_RUNNING_PER_KEY', S.MAX_RUNNING_PER_KEY),
    maxRunning: given('MAX_RUNNING', S.MAX_RUNNING),
    maxWaiting: given('MAX_WAITING', S.MAX_WAITING),
    maxTailsPerKey: given('MAX_TAILS_PER_KEY', S.MAX_TAILS_PER_KEY),
    maxTails: given('MAX_TAILS', S.MAX_TAILS),
    rateLimit: given('RATE_LIMIT', S.RATE_LIMIT),
    endpointRateLimit: given('ENDPOINT_RATE_LIMIT', S.ENDPOINT_RATE_LIMIT),
    dailyBytes: value('DAILY_BYTES', S.DAILY_BYTES),
    metricsPort: value('METRICS_PORT', S.METRICS_PORT),
    metricsKey,
    tracing: collector === null ? null : { collector, headers: collectorHeaders, serviceName, begun },
    logSql: given('LOG_SQL', S.LOG_SQL) === 'on',
    logLevel: given('LOG_LEVEL', S.LOG_LEVEL),
    warnings: [
      ...(clock === null ? [] : [`CLOCK is set: now is ${clock.text} for every query.`]),
      ...weakKeys([
        [keyName, apiKey],
        ['METRICS_KEY', metricsKey],
        ...(collecting ? [['LOGFLARE_PUBLIC_ACCESS_TOKEN', publicToken] as const] : []),
      ]),
      ...(embedded && emulator !== null ? ['BIGQUERY_EMULATOR_HOST has no effect with ENGINE=duckdb.'] : []),
    ],
  };

  if (config.metricsPort !== null && config.metricsPort !== 0 && config.metricsPort === config.port) {
    faults.push('METRICS_PORT: allowed is another port than PORT; on PORT itself, set METRICS_KEY.');
  }
  if (!embedded && projectId === null) faults.push('BIGQUERY_PROJECT_ID: required by ENGINE=bigquery.');
  if (!embedded && dataset === null) faults.push(`BIGQUERY_DATASET: ${requiredDataset(ownProject, stackProject)}`);
  const inStack = STACK_SETTINGS.filter((name) => environment[name]);
  if (embedded && dataDir === null && inStack.length > 0) {
    faults.push(
      `DATA_DIR: required in a Supabase stack (${inStack.join(', ')} set), or BIGQUERY_PROJECT_ID and BIGQUERY_DATASET: sample logs would pass for those of the stack.`,
    );
  }
  for (const [name, key] of fullKeys) {
    if (publicToken === null || publicToken.reveal() !== key?.reveal()) continue;
    faults.push(
      `LOGFLARE_PUBLIC_ACCESS_TOKEN: allowed is another value than that of ${name}, which may do everything.`,
    );
  }
  if (collecting && (!embedded || dataDir === null)) {
    faults.push('COLLECT: on is allowed on the embedded engine with DATA_DIR, where events are stored.');
  }
  if (clock !== null && !embedded && emulator === null) {
    faults.push('CLOCK: allowed only with ENGINE=duckdb or BIGQUERY_EMULATOR_HOST.');
  }
  if (faults.length > 0) throw new ConfigError([...new Set(faults)].join('\n'));
  return config;
}
