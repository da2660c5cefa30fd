/** The configuration: environment variables, read and checked once at start. `.env.example` is made of the table `SETTINGS`. */
import { join } from 'node:path';
import { inspect } from 'node:util';

import { instantText, readInstant } from '@logquay/googlesql/types';

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

/** `T` has null where a setting may be unset. */
export interface Setting<T> {
  /** As text, as it stands in `.env.example`; empty: unset. */
  readonly default: string;
  /** What a value may be, for the message that refuses another. */
  readonly allowed: string;
  /** For `.env.example`. */
  readonly about: string;
  /** @returns undefined for a value that is not allowed */
  readonly read: (text: string) => T | undefined;
}

function setting<T>(given: string, allowed: string, about: string, read: (text: string) => T | undefined): Setting<T> {
  return { default: given, allowed, about, read };
}

/** A setting that may be unset. */
function optional<T>(allowed: string, about: string, read: (text: string) => T | undefined): Setting<T | null> {
  return { default: '', allowed, about, read: (text) => (text === '' ? null : read(text)) };
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

/** Each by its own name: no pattern, and nothing that a policy would read otherwise. */
function ownOrigins(text: string): readonly string[] | undefined {
  const read = origins(text);
  return read !== undefined && read !== '*' && read.every((one) => /^[a-z]+:\/\/[\w.:[\]-]+$/.test(one))
    ? read
    : undefined;
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
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/i;
  const epochMicros = form.test(text) ? readInstant(text) : 'spelling';
  return typeof epochMicros === 'bigint' ? { text: instantText(epochMicros), epochMicros } : undefined;
}

/** Characters below which a key can be guessed over the network. */
const SHORTEST_KEY = 16;

const ON_OFF = oneOf('on', 'off');
const ACCESS = oneOf('open', 'key', 'off');
const bytes = (text: string): bigint | undefined => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined);

/** Every setting, by part of the service. */
const SETTINGS_BY_PART = {
  Listening: {
    PORT: setting('4000', 'a port number from 0 to 65535', 'Port to listen on.', integer(0, 65535)),
    HOST: optional(
      'a host name or address to listen on',
      'Address to listen on. Unset: 127.0.0.1 on the embedded engine, 0.0.0.0 on BigQuery and in the container image.',
      anyText,
    ),
    PUBLIC_URL: optional(
      'an http or https URL without user and query',
      'URL of the service for callers, such as https://logs.example.com. With https, answers carry Strict-Transport-Security.',
      baseUrl,
    ),
    CORS_ORIGINS: optional(
      '* or a list of origins such as https://logs.example.com, with commas between',
      'Origins whose pages may read answers, with commas between, or *. Unset: none.',
      origins,
    ),
    DOCS: optional(
      'open, key or off',
      'Access to /docs and /openapi.json: open, key or off. Unset: open on the embedded engine, key on BigQuery.',
      ACCESS,
    ),
    EXPLORER: optional(
      'open, key or off',
      'Access to /explore, the page to look at logs: open, key or off. Unset: as DOCS.',
      ACCESS,
    ),
    EXPLORER_EMBED: optional(
      'a list of origins such as https://app.example.com, with commas between',
      'Origins whose pages may show /explore in a frame (docs/embed.md), with commas between. Unset: none.',
      ownOrigins,
    ),
    SEARCHES_FILE: optional(
      'a file',
      'File of searches that the explorer offers to keys without pins. Unset: none.',
      anyText,
    ),
    MCP: optional(
      'on or off',
      'Whether assistants are answered at /mcp (docs/agents.md): on or off. Unset: on with the embedded engine, off with BigQuery.',
      ON_OFF,
    ),
    DRAIN_DELAY: setting(
      '5',
      'a number of seconds from 0 to 3600',
      'Seconds between SIGTERM and the end of listening. /ready answers 503 meanwhile. On a terminal 0, unless it is set.',
      seconds(0, 3600),
    ),
  },
  Keys: {
    API_KEY: optional(
      'printable ASCII characters without spaces',
      'A key for everything: a long random text. With less than 16 characters there is a warning at start.',
      secret,
    ),
    KEYS_FILE: setting('.data/keys.json', 'a file', 'File of the keys that `npm run keys` makes.', anyText),
    TOKEN_SECRET: optional(
      'at least 16 printable ASCII characters without spaces',
      'Secret that seals page tokens (docs/querying.md): the same for all processes behind an address. Unset: a random one for each process.',
      (text) => (text.length >= SHORTEST_KEY ? secret(text) : undefined),
    ),
  },
  'Stored queries and engines': {
    QUERIES_DIR: setting('queries', 'a folder', 'Folder of the stored queries.', anyText),
    STRICT_START: setting(
      'off',
      'on or off',
      'Whether a stored query that does not resolve stops the start: on or off. Off: its endpoint answers 503 endpointBroken.',
      ON_OFF,
    ),
    ENGINE: optional(
      'duckdb or bigquery',
      'duckdb or bigquery. Unset: bigquery if BIGQUERY_PROJECT_ID or BIGQUERY_EMULATOR_HOST is set, else duckdb.',
      oneOf('duckdb', 'bigquery'),
    ),
    CLOCK: optional(
      'an ISO 8601 instant with its zone, such as 2026-09-30T12:00:00Z',
      "A fixed current time, for demonstrations and tests on recorded logs: an ISO 8601 instant with its zone. Not with Google's BigQuery.",
      instant,
    ),
  },
  'Embedded engine': {
    DATA_DIR: optional('a folder', 'Folder of the tables. Unset: a week of sample logs up to now.', anyText),
    TABLES: setting(
      'on',
      'on or off',
      'Whether the endpoint "tables" serves every table of DATA_DIR to who runs the service (docs/endpoints.md): on or off.',
      ON_OFF,
    ),
    CACHE_DIR: setting('.data/cache', 'a folder', 'Folder for data that is converted for the engine.', anyText),
    COLLECT: setting(
      'off',
      'on or off',
      'Whether logs that shippers send over HTTP are stored in DATA_DIR (docs/data.md): on or off.',
      ON_OFF,
    ),
    COLLECT_SOURCES: optional(
      'a file',
      'JSON file that assigns further sources to tables, and says where a drain names its source and OpenTelemetry its project. Unset: the sources of a Supabase stack alone.',
      anyText,
    ),
    COLLECT_RETENTION: setting(
      '7',
      'a number of days from 0 to 36500',
      'Days for which daily files are kept. 0: for ever.',
      integer(0, 36_500),
    ),
    COLLECT_MIN_FREE: setting(
      '536870912',
      'a number of bytes',
      'Bytes of free disk space below which no event is stored.',
      integer(0, Number.MAX_SAFE_INTEGER),
    ),
    COLLECT_MAX_BODY: setting(
      '5242880',
      'a number of bytes from 65536 to 12582912',
      'Most bytes of one body, decompressed.',
      integer(65_536, 12_582_912),
    ),
    DUCKDB_MEMORY_LIMIT: setting('1GB', 'a size such as 512MB or 4GB', 'Most memory of DuckDB.', (text) =>
      /^[1-9]\d{0,5}(MB|GB|MiB|GiB)$/.test(text) ? text : undefined,
    ),
    DUCKDB_THREADS: setting('2', 'a number of threads from 1 to 256', 'Threads of DuckDB.', integer(1, 256)),
  },
  BigQuery: {
    BIGQUERY_PROJECT_ID: optional(
      'a Google Cloud project id',
      'Project that runs and pays the queries.',
      googleProject,
    ),
    BIGQUERY_DATASET: optional(
      'a data set name of letters, digits and _',
      'Data set of tables that are named without one.',
      (text) => (/^\w{1,1024}$/.test(text) ? text : undefined),
    ),
    BIGQUERY_LOCATION: optional(
      'a location such as EU or europe-west3',
      'Location of the jobs. Unset: that of the data set.',
      (text) => (/^[a-z0-9-]{1,64}$/i.test(text) ? text : undefined),
    ),
    BIGQUERY_EMULATOR_HOST: optional(
      'host:port, with or without http://',
      'host:port of a local BigQuery. With it ENGINE is bigquery unless it says otherwise.',
      emulatorOrigin,
    ),
    GOOGLE_APPLICATION_CREDENTIALS: optional(
      'a file',
      "File of a service account. Unset: where Google's libraries look.",
      anyText,
    ),
    SANDBOX_DRY_RUN: optional(
      'on or off',
      'Whether BigQuery judges queries of consumers by a dry run, the last wall of the sandbox: on (the default) or off.',
      ON_OFF,
    ),
    MAX_BYTES_BILLED: setting(
      '10737418240',
      'a number of bytes',
      'Most bytes that a query may bill, where its endpoint sets no limit.',
      bytes,
    ),
    DAILY_BYTES: optional(
      'a number of bytes',
      'Bytes that a key may have billed in a UTC day, where the key sets no limit. Unset: no limit.',
      bytes,
    ),
    PRICE_PER_TIB: setting(
      '6.25',
      'a number of US dollars',
      'US dollars for a TiB that a query reads, for the estimate of a dry run.',
      (text) => (/^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined),
    ),
  },
  Cache: {
    REDIS_URL: optional(
      'a URL that begins with redis://, rediss://, redis+sentinel:// or redis+cluster://',
      'Redis that replicas share results, limits and budgets through: redis:// or rediss:// (TLS) for a server, redis+sentinel://a:26379,b:26379/NAME for the master that Sentinels know by NAME, redis+cluster://a:6379,b:6379 for a cluster. Unset: each process keeps its own.',
      (text) => (/^rediss?(\+sentinel|\+cluster)?:\/\/\S+$/.test(text) ? new Secret(text) : undefined),
    ),
    REDIS_PREFIX: setting(
      'logquay',
      'letters, digits and . _ : - (at most 64)',
      'Beginning of the names of all keys in Redis.',
      (text) => (/^[\w.:-]{1,64}$/.test(text) ? text : undefined),
    ),
    REDIS_TIMEOUT: setting(
      '0.1',
      'a number of seconds from 0.005 to 10',
      'Seconds after which a command of Redis is abandoned.',
      seconds(0.005, 10),
    ),
    CACHE_MEMORY: setting(
      '67108864',
      'a number of bytes from 0 to 17179869184',
      'Bytes of results that are kept in the process.',
      integer(0, 17_179_869_184),
    ),
  },
  Limits: {
    QUERY_TIMEOUT: setting(
      '30',
      'a number of seconds from 0.001 to 3600',
      'Seconds from the arrival of a request to its deadline, where its endpoint sets none. An export has twenty times as long.',
      seconds(0.001, 3600),
    ),
    MAX_RESPONSE_BYTES: setting(
      '67108864',
      'a number of bytes from 1024 to 268435456',
      'Most bytes of an answer, before compression.',
      integer(1024, 268_435_456),
    ),
    CSV_ESCAPE_FORMULAS: setting(
      'on',
      'on or off',
      'Whether a text in CSV that a spreadsheet would compute gets an apostrophe in front: on or off.',
      ON_OFF,
    ),
    MAX_RUNNING_PER_KEY: setting(
      '16',
      'a number of queries from 1 to 1000',
      'Most queries of a key that run at a time.',
      integer(1, 1000),
    ),
    MAX_RUNNING: setting(
      '64',
      'a number of queries from 1 to 10000',
      'Most queries of all keys that run at a time.',
      integer(1, 10_000),
    ),
    RATE_LIMIT: setting(
      '100',
      'a number of requests per second from 0 to 1000000',
      'Requests per second of a key that sets no limit of its own. 0: no limit.',
      integer(0, 1_000_000),
    ),
  },
  'Metrics, traces and log': {
    METRICS_PORT: optional(
      'a port number from 0 to 65535',
      'Port that answers /metrics and the details of /ready without a key.',
      integer(0, 65535),
    ),
    METRICS_KEY: optional(
      'printable ASCII characters without spaces',
      'Key for /metrics and the details of /ready on PORT. Neither it nor METRICS_PORT: there are none.',
      secret,
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: optional(
      'an http or https URL without user and query',
      'OpenTelemetry collector that takes OTLP over HTTP, such as http://localhost:4318. Unset: no traces.',
      baseUrl,
    ),
    OTEL_EXPORTER_OTLP_HEADERS: optional(
      'a list of NAME=VALUE with commas between, values percent-encoded',
      'Headers for it, such as authorization=Bearer%20TOKEN: NAME=VALUE with commas between, values percent-encoded.',
      headers,
    ),
    OTEL_TRACES_SAMPLER: setting(
      'parentbased_always_on',
      'parentbased_always_on, parentbased_always_off or parentbased_traceidratio',
      'Which requests without a trace of the caller begin one: parentbased_always_on, parentbased_always_off or parentbased_traceidratio.',
      oneOf('parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'),
    ),
    OTEL_TRACES_SAMPLER_ARG: setting(
      '1',
      'a number from 0 to 1',
      'The part of them with parentbased_traceidratio, from 0 to 1.',
      (text) => (/^(0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
    ),
    OTEL_SERVICE_NAME: setting(
      'logquay',
      'at most 255 printable characters',
      'Name of the service in traces.',
      (text) => (/^\P{C}{1,255}$/u.test(text) ? text : undefined),
    ),
    LOG_LEVEL: setting(
      'info',
      'trace, debug, info, warn, error or silent',
      'trace, debug, info, warn, error or silent. The log goes to the standard error: JSON lines, or text on a terminal.',
      oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    ),
    LOG_SQL: setting(
      'off',
      'on or off',
      'Whether the log holds the SQL and LQL of requests, which may hold what nobody else should read: on or off.',
      ON_OFF,
    ),
    AUDIT_FILE: optional('a file', 'File with a line of JSON for each request of a key. Unset: none.', anyText),
  },
  'In a Supabase stack (docs/supabase.md)': {
    QUERY_ERRORS: setting(
      'off',
      'off or logflare',
      'logflare: errors of queries of consumers are answered with status 200, as Supabase Studio shows them. off: with their own status.',
      oneOf('off', 'logflare'),
    ),
    LOGFLARE_PRIVATE_ACCESS_TOKEN: optional(
      'printable ASCII characters without spaces',
      'Taken as API_KEY where that is unset.',
      secret,
    ),
    LOGFLARE_API_KEY: optional(
      'printable ASCII characters without spaces',
      'Taken as API_KEY where both are unset.',
      secret,
    ),
    LOGFLARE_PUBLIC_ACCESS_TOKEN: optional(
      'printable ASCII characters without spaces',
      'With COLLECT=on, a key that may send logs and nothing else. It must differ from API_KEY. With this setting or one of the last four the service does not start without DATA_DIR or BigQuery, so that it never serves sample logs in a stack.',
      secret,
    ),
    GOOGLE_PROJECT_ID: optional(
      'a Google Cloud project id',
      'Taken as BIGQUERY_PROJECT_ID where that is unset. It chooses the engine only where DATA_DIR is unset, too.',
      googleProject,
    ),
  },
};

/** Variables of Logflare's: each says that the service is part of a Supabase stack, in Logflare's place. Their values do not matter. */
export const OF_A_STACK = [
  'LOGFLARE_SINGLE_TENANT',
  'LOGFLARE_SUPABASE_MODE',
  'LOGFLARE_PUBLIC_ACCESS_TOKEN',
  'GOOGLE_DATASET_ID_APPEND',
  'POSTGRES_BACKEND_URL',
] as const;

/** A variable of an earlier version, which is not read. */
interface Removed {
  /** What holds in its place. */
  readonly instead: string;
  /** Whether a value restricted more than what holds now: the service does not start with it. */
  readonly restricts: (value: number) => boolean;
}

const below = (least: number) => (value: number) => !(value >= least);
const never = (): boolean => false;

/** To go with the version after 0.3. */
const REMOVED: Readonly<Record<string, Removed>> = {
  LEASE_TIME: { instead: 'It is 5 seconds.', restricts: never },
  CACHE_MAX_ENTRY: { instead: 'It is 8 MiB.', restricts: below(8 * 1024 ** 2) },
  STALE_IF_ERROR: { instead: 'It is 3600 seconds.', restricts: below(3600) },
  MAX_WARMED: { instead: 'It is 100 results.', restricts: below(100) },
  EXPORT_TIMEOUT: { instead: 'It is twenty times QUERY_TIMEOUT.', restricts: below(600) },
  MAX_EXPORT_FILE: { instead: 'It is 4 GiB.', restricts: below(4 * 1024 ** 3) },
  MAX_WAITING: { instead: 'It is 100 queries.', restricts: below(100) },
  MAX_TAILS: { instead: 'It is 1000 listeners.', restricts: below(1000) },
  MAX_TAILS_PER_KEY: { instead: 'It is 100 listeners.', restricts: below(100) },
  ENDPOINT_RATE_LIMIT: {
    instead: 'Limit keys: RATE_LIMIT, or `npm run keys` with --rate-limit.',
    restricts: (value) => value !== 0,
  },
};

type Parts = typeof SETTINGS_BY_PART;
type All = { [Part in keyof Parts]: (of: Parts[Part]) => void }[keyof Parts] extends (of: infer Every) => void
  ? Every
  : never;
type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Values = { readonly [Name in keyof All]: ValueOf<All[Name]> };

export { SETTINGS_BY_PART };
export const SETTINGS = Object.assign({}, ...Object.values(SETTINGS_BY_PART)) as All;

/** What the local BigQuery calls its project and data set unless told otherwise. */
const EMULATED = { project: 'test', dataset: 'logs' };

const SECOND = 1000;
const EXPORTS_BY_TIMEOUT = 20;

export type Config = ReturnType<typeof configOf>;
export type CacheConfig = Config['cache'];
export type RedisConfig = NonNullable<Config['redis']>;
export type TracingConfig = NonNullable<Config['tracing']>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the environment. An empty value counts as unset.
 *
 * @param terminal whether a person has started the service and ends it with Ctrl-C: no load balancer has to turn away
 * @throws ConfigError with one line for each bad value: its name and what is allowed, never the value (it may be a secret)
 */
export function readConfig(environment: Environment, terminal = false): Config {
  const faults: string[] = [];
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, { default: given, allowed, read }]) => {
      const value = read(environment[name] || given);
      if (value !== undefined) return [name, value];
      faults.push(`${name}: allowed is ${allowed}.`);
      // So that one start names every fault.
      return [name, read(given)];
    }),
  ) as Values;
  for (const [name, { instead, restricts }] of Object.entries(REMOVED)) {
    const value = environment[name];
    if (value && restricts(Number(value))) faults.push(`${name}: this setting is gone, remove it. ${instead}`);
  }
  const config = configOf(values, environment, terminal);
  faults.push(...contradictions(values, config, environment));
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config;
}

function configOf(v: Values, environment: Environment, terminal: boolean) {
  const emulator = v.BIGQUERY_EMULATOR_HOST;
  const projectId = v.BIGQUERY_PROJECT_ID ?? v.GOOGLE_PROJECT_ID ?? (emulator && EMULATED.project);
  // Stacks pass Logflare's project on wherever the logs are.
  const named = v.BIGQUERY_PROJECT_ID ?? emulator ?? (v.DATA_DIR === null ? v.GOOGLE_PROJECT_ID : null);
  const engine = v.ENGINE ?? (named ? 'bigquery' : 'duckdb');
  const embedded = engine === 'duckdb';
  const docs = v.DOCS ?? (embedded ? 'open' : 'key');
  const begun = {
    parentbased_always_on: 1,
    parentbased_always_off: 0,
    parentbased_traceidratio: v.OTEL_TRACES_SAMPLER_ARG,
  }[v.OTEL_TRACES_SAMPLER];
  return {
    port: v.PORT,
    host: v.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0'),
    queriesDir: v.QUERIES_DIR,
    cacheDir: v.CACHE_DIR,
    engine,
    duckdb: {
      dataDir: v.DATA_DIR,
      schemaFile: join(v.QUERIES_DIR, 'schema.json'),
      memory: v.DUCKDB_MEMORY_LIMIT,
      threads: v.DUCKDB_THREADS,
    },
    /** Whether there is the endpoint over all tables of a data folder. */
    tables: embedded && v.DATA_DIR !== null && v.TABLES === 'on',
    /** null on the embedded engine. */
    bigquery: embedded
      ? null
      : {
          projectId: projectId ?? '',
          dataset: v.BIGQUERY_DATASET ?? (emulator ? EMULATED.dataset : ''),
          location: v.BIGQUERY_LOCATION,
          /** Origin of a local BigQuery; null: Google's. */
          emulator,
          credentials: v.GOOGLE_APPLICATION_CREDENTIALS,
        },
    apiKey: v.API_KEY ?? v.LOGFLARE_PRIVATE_ACCESS_TOKEN ?? v.LOGFLARE_API_KEY,
    /** null: no logs are taken in. */
    collect:
      v.COLLECT === 'off' || v.DATA_DIR === null
        ? null
        : {
            dataDir: v.DATA_DIR,
            sources: v.COLLECT_SOURCES,
            /** Days. */
            retention: v.COLLECT_RETENTION,
            /** Bytes. */
            minFree: v.COLLECT_MIN_FREE,
            maxBody: v.COLLECT_MAX_BODY,
            /** A key that may only send logs. */
            publicToken: v.LOGFLARE_PUBLIC_ACCESS_TOKEN,
          },
    keysFile: v.KEYS_FILE,
    /** Whether KEYS_FILE was set, rather than its default taken. */
    keysFileGiven: Boolean(environment.KEYS_FILE),
    redis: v.REDIS_URL && { url: v.REDIS_URL, prefix: v.REDIS_PREFIX, timeout: v.REDIS_TIMEOUT },
    cache: {
      /** Bytes. */
      memory: v.CACHE_MEMORY,
      /** Bytes of one result, compressed forms included, beyond which it is not kept. */
      maxEntry: 8 * 1024 ** 2,
      /** Milliseconds that a result may serve on after its lifetime when a refresh fails. */
      staleIfError: 3600 * SECOND,
      /** Milliseconds after which a run whose process has died is taken over by another process. */
      leaseTime: 5 * SECOND,
      /** Results that are refreshed before they expire. */
      maxWarmed: 100,
    },
    publicUrl: v.PUBLIC_URL,
    corsOrigins: v.CORS_ORIGINS ?? [],
    docs,
    mcp: (v.MCP ?? (embedded ? 'on' : 'off')) === 'on',
    explorer: v.EXPLORER ?? docs,
    explorerEmbed: v.EXPLORER_EMBED ?? [],
    clock: v.CLOCK,
    /** Milliseconds, as all times. */
    drainDelay: terminal && !environment.DRAIN_DELAY ? 0 : v.DRAIN_DELAY,
    queryTimeout: v.QUERY_TIMEOUT,
    exportTimeout: EXPORTS_BY_TIMEOUT * v.QUERY_TIMEOUT,
    /** Bytes of the file that an export as Parquet is written to. */
    maxExportFile: 4 * 1024 ** 3,
    tokenSecret: v.TOKEN_SECRET,
    maxBytesBilled: v.MAX_BYTES_BILLED,
    pricePerTiB: v.PRICE_PER_TIB,
    sandboxDryRun: v.SANDBOX_DRY_RUN !== 'off',
    maxResponseBytes: v.MAX_RESPONSE_BYTES,
    csvEscapeFormulas: v.CSV_ESCAPE_FORMULAS === 'on',
    logflareErrors: v.QUERY_ERRORS === 'logflare',
    strictStart: v.STRICT_START === 'on',
    maxRunningPerKey: v.MAX_RUNNING_PER_KEY,
    maxRunning: v.MAX_RUNNING,
    maxWaiting: 100,
    /** Live tails at a time, of a key and of all. */
    maxTailsPerKey: 100,
    maxTails: 1000,
    rateLimit: v.RATE_LIMIT,
    dailyBytes: v.DAILY_BYTES,
    metricsPort: v.METRICS_PORT,
    metricsKey: v.METRICS_KEY,
    tracing:
      v.OTEL_EXPORTER_OTLP_ENDPOINT === null
        ? null
        : {
            collector: v.OTEL_EXPORTER_OTLP_ENDPOINT,
            headers: v.OTEL_EXPORTER_OTLP_HEADERS,
            serviceName: v.OTEL_SERVICE_NAME,
            /** How much of the requests without a trace of the caller's begin one, 0 to 1. */
            begun,
          },
    logSql: v.LOG_SQL === 'on',
    auditFile: v.AUDIT_FILE ?? null,
    searchesFile: v.SEARCHES_FILE ?? null,
    logLevel: v.LOG_LEVEL,
    /** What the operator should read at start. */
    warnings: warningsOf(v, embedded, environment),
  };
}

function warningsOf(v: Values, embedded: boolean, environment: Environment): readonly string[] {
  const keys: readonly (readonly [string, Secret | null])[] = [
    fullKeys(v).find(([, key]) => key !== null) ?? ['API_KEY', null],
    ['METRICS_KEY', v.METRICS_KEY],
    ['LOGFLARE_PUBLIC_ACCESS_TOKEN', v.COLLECT === 'on' ? v.LOGFLARE_PUBLIC_ACCESS_TOKEN : null],
  ];
  const weak = keys.filter(([, key]) => key !== null && key.reveal().length < SHORTEST_KEY);
  return [
    ...(v.CLOCK === null ? [] : [`CLOCK is set: now is ${v.CLOCK.text} for every query.`]),
    ...weak.map(
      ([name]) =>
        `${name} is shorter than ${String(SHORTEST_KEY)} characters: it can be guessed. Take a long random text.`,
    ),
    ...(embedded && v.BIGQUERY_EMULATOR_HOST !== null
      ? ['BIGQUERY_EMULATOR_HOST has no effect with ENGINE=duckdb.']
      : []),
    ...Object.entries(REMOVED).flatMap(([name, { instead }]) =>
      environment[name] ? [`${name} has no effect: this setting is gone, remove it. ${instead}`] : [],
    ),
  ];
}

function fullKeys(v: Values): readonly (readonly [string, Secret | null])[] {
  return [
    ['API_KEY', v.API_KEY],
    ['LOGFLARE_PRIVATE_ACCESS_TOKEN', v.LOGFLARE_PRIVATE_ACCESS_TOKEN],
    ['LOGFLARE_API_KEY', v.LOGFLARE_API_KEY],
  ];
}

/** Faults of settings that do not fit each other. */
function contradictions(v: Values, config: Config, environment: Environment): readonly string[] {
  const embedded = config.engine === 'duckdb';
  const emulator = v.BIGQUERY_EMULATOR_HOST ?? null;
  const inStack = OF_A_STACK.filter((name) => environment[name]);
  const publicToken = v.LOGFLARE_PUBLIC_ACCESS_TOKEN?.reveal();
  const faults: (readonly [boolean, string])[] = [
    [
      Boolean(config.metricsPort) && config.metricsPort === config.port,
      'METRICS_PORT: allowed is another port than PORT; on PORT itself, set METRICS_KEY.',
    ],
    [config.bigquery?.projectId === '', 'BIGQUERY_PROJECT_ID: required by ENGINE=bigquery.'],
    [
      config.bigquery?.dataset === '',
      v.BIGQUERY_PROJECT_ID === null && v.GOOGLE_PROJECT_ID !== null
        ? "BIGQUERY_DATASET: required on BigQuery, which GOOGLE_PROJECT_ID chooses: Logflare's data set is its user's id and GOOGLE_DATASET_ID_APPEND (_default where that is unset)."
        : 'BIGQUERY_DATASET: required by ENGINE=bigquery.',
    ],
    [
      embedded && v.DATA_DIR === null && inStack.length > 0,
      `DATA_DIR: required in a Supabase stack (${inStack.join(', ')} set), or BIGQUERY_PROJECT_ID and BIGQUERY_DATASET: sample logs would pass for those of the stack.`,
    ],
    ...fullKeys(v).map(
      ([name, key]) =>
        [
          publicToken !== undefined && publicToken === key?.reveal(),
          `LOGFLARE_PUBLIC_ACCESS_TOKEN: allowed is another value than that of ${name}, which may do everything.`,
        ] as const,
    ),
    [
      v.COLLECT === 'on' && (!embedded || v.DATA_DIR === null),
      'COLLECT: on is allowed on the embedded engine with DATA_DIR, where events are stored.',
    ],
    [
      v.CLOCK !== null && !embedded && emulator === null,
      'CLOCK: allowed only with ENGINE=duckdb or BIGQUERY_EMULATOR_HOST.',
    ],
  ];
  return faults.flatMap(([wrong, fault]) => (wrong ? [fault] : []));
}
