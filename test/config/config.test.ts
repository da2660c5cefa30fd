import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inspect, parseEnv } from 'node:util';

import { example as exampleOf, page as pageOf } from '../../scripts/settings';
import { ConfigError, readConfig, Secret, SETTINGS, SETTINGS_BY_PART } from '../../src/config';

const BIGQUERY = { BIGQUERY_PROJECT_ID: 'my-project', BIGQUERY_DATASET: 'logs' };

function fault(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('The configuration was accepted.');
}

describe('.env.example', () => {
  const text = readFileSync(path.join(__dirname, '../../.env.example'), 'utf8');
  const example = parseEnv(text);

  it('is made of the table of settings by `node scripts/settings.js`, and so is docs/settings.md', () => {
    expect(text).toBe(exampleOf(SETTINGS_BY_PART));
    expect(readFileSync(path.join(__dirname, '../../docs/settings.md'), 'utf8')).toBe(pageOf(SETTINGS_BY_PART));
    expect(Object.keys(example).sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  it('changes nothing', () => {
    expect({ ...readConfig(example), keysFileGiven: false }).toEqual(readConfig({}));
  });
});

describe('keys that can be guessed', () => {
  const warnings = (environment: Record<string, string>): string[] =>
    readConfig(environment).warnings.map((warning) => warning.replace(/ is shorter than 16 characters.*$/, ''));

  it.each([
    [{ API_KEY: 'x'.repeat(15) }, ['API_KEY']],
    [{ API_KEY: 'x'.repeat(16) }, []],
    [{ LOGFLARE_PRIVATE_ACCESS_TOKEN: 'short' }, ['LOGFLARE_PRIVATE_ACCESS_TOKEN']],
    [{ LOGFLARE_PRIVATE_ACCESS_TOKEN: 'short', API_KEY: 'x'.repeat(16) }, []],
    [{ METRICS_KEY: 'short', API_KEY: 'short' }, ['API_KEY', 'METRICS_KEY']],
  ])('%j', (environment, expected) => {
    expect(warnings(environment)).toEqual(expected);
    expect(readConfig(environment).warnings.join()).not.toMatch(/xxx|short\b(?!er)/);
  });
});

describe('defaults', () => {
  it('are those of a laptop without a BigQuery project', () => {
    expect(readConfig({})).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      engine: 'duckdb',
      bigquery: null,
      apiKey: null,
      keysFile: '.data/keys.json',
      corsOrigins: [],
      docs: 'open',
      explorer: 'open',
      clock: null,
      drainDelay: 5000,
      queryTimeout: 30_000,
      maxResponseBytes: 64 * 1024 * 1024,
      csvEscapeFormulas: true,
      maxRunningPerKey: 16,
      maxWaiting: 100,
      warnings: [],
    });
  });

  it('are those of a server with one', () => {
    expect(readConfig(BIGQUERY)).toMatchObject({ engine: 'bigquery', host: '0.0.0.0', docs: 'key', explorer: 'key' });
  });

  it('are an empty value', () => {
    expect(readConfig({ PORT: '', ENGINE: '', CLOCK: '', API_KEY: '' })).toEqual(readConfig({}));
  });
});

describe('a bad value', () => {
  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '4e3'],
    ['PORT', 'http'],
    ['ENGINE', 'postgres'],
    ['ENGINE', 'DuckDB'],
    ['DOCS', 'yes'],
    ['DRAIN_DELAY', '5s'],
    ['DRAIN_DELAY', '-1'],
    ['QUERY_TIMEOUT', '0'],
    ['MAX_BYTES_BILLED', '1GB'],
    ['MAX_RESPONSE_BYTES', '0'],
    ['MAX_RUNNING_PER_KEY', '0'],
    ['API_KEY', 'with blank'],
    ['API_KEY', 'ключ'],
    ['REDIS_URL', 'localhost:6379'],
    ['BIGQUERY_DATASET', 'a.b'],
    ['BIGQUERY_EMULATOR_HOST', 'ftp://localhost'],
    ['CORS_ORIGINS', 'logs.example.com'],
    ['CORS_ORIGINS', 'https://logs.example.com/path'],
    ['CORS_ORIGINS', 'https://a.example,*'],
    ['CLOCK', 'yesterday'],
    ['CLOCK', '2026-09-30'],
    ['CLOCK', '2026-09-30T12:00:00'],
    ['CLOCK', '2026-02-30T12:00:00Z'],
    ['CLOCK', '2026-09-30T24:00:00Z'],
    ['CLOCK', '2026-09-30T12:00:00.1234567Z'],
    ['CLOCK', '2026-09-30T12:00:00+99:00'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://localhost:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:secret@localhost:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318/?token=secret'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318/#'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2,b'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%0d%0ab'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hunter2'],
    ['OTEL_TRACES_SAMPLER', 'always_on'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '-1'],
    ['OTEL_SERVICE_NAME', 'two\nlines'],
    ['DUCKDB_MEMORY_LIMIT', 'a lot'],
    ['DUCKDB_THREADS', '0'],
    ['LOG_LEVEL', 'loud'],
  ] as const)('of %s (%s) is refused with what is allowed, and never shown', (name, value) => {
    const message = fault({ [name]: value });
    expect(message).toBe(`${name}: allowed is ${SETTINGS[name].allowed}.`);
    if (['API_KEY', 'REDIS_URL', 'OTEL_EXPORTER_OTLP_HEADERS'].includes(name)) expect(message).not.toContain(value);
  });

  it('does not hide another', () => {
    expect(fault({ PORT: 'x', DOCS: 'x' }).split('\n')).toHaveLength(2);
  });
});

describe('a setting that is gone', () => {
  it('is warned of, with what holds in its place', () => {
    expect(readConfig({ LEASE_TIME: '20', MAX_TAILS: '1000' }).warnings).toEqual([
      'LEASE_TIME has no effect: this setting is gone, remove it. It is 5 seconds.',
      'MAX_TAILS has no effect: this setting is gone, remove it. It is 1000 listeners.',
    ]);
  });

  it('leaves what is shared in Redis its size, however little the process keeps', () => {
    expect(readConfig({ CACHE_MEMORY: '0' }).cache).toMatchObject({ memory: 0, maxEntry: 8 * 1024 * 1024 });
  });

  it.each([
    ['STALE_IF_ERROR', '0'],
    ['CACHE_MAX_ENTRY', '1048576'],
    ['MAX_WARMED', '99'],
    ['MAX_TAILS_PER_KEY', '10'],
    ['MAX_EXPORT_FILE', '1048576'],
    ['ENDPOINT_RATE_LIMIT', '5'],
    ['EXPORT_TIMEOUT', '60'],
  ])('%s=%s stops the start, as it restricted more', (name, value) => {
    expect(fault({ [name]: value })).toMatch(new RegExp(`^${name}: this setting is gone, remove it\\. `));
  });
});

describe('ENGINE', () => {
  it('is the embedded one where it is asked for, with a project too', () => {
    expect(readConfig({ ...BIGQUERY, ENGINE: 'duckdb' })).toMatchObject({ engine: 'duckdb', bigquery: null });
  });

  it('needs project and data set for BigQuery', () => {
    expect(fault({ ENGINE: 'bigquery' }).split('\n')).toEqual([
      'BIGQUERY_PROJECT_ID: required by ENGINE=bigquery.',
      'BIGQUERY_DATASET: required by ENGINE=bigquery.',
    ]);
  });

  it.each([
    ['localhost:9050', 'http://localhost:9050'],
    ['http://localhost:9050/', 'http://localhost:9050'],
    ['https://bq.internal', 'https://bq.internal'],
  ])('takes a local BigQuery as %s', (given, origin) => {
    expect(readConfig({ ...BIGQUERY, BIGQUERY_EMULATOR_HOST: given }).bigquery?.emulator).toBe(origin);
  });

  it('warns of a local BigQuery that it does not use', () => {
    expect(readConfig({ ENGINE: 'duckdb', BIGQUERY_EMULATOR_HOST: 'localhost:9050' }).warnings).toEqual([
      expect.stringContaining('BIGQUERY_EMULATOR_HOST'),
    ]);
  });
});

describe('CLOCK', () => {
  it('is an instant, to the microsecond, in UTC', () => {
    expect(readConfig({ CLOCK: '2026-09-30T14:00:00.25+02:00' }).clock).toEqual({
      text: '2026-09-30T12:00:00.250000Z',
      epochMicros: BigInt(Date.UTC(2026, 8, 30, 12)) * 1000n + 250_000n,
    });
  });

  it('is announced', () => {
    expect(readConfig({ CLOCK: '2026-09-30T12:00:00Z' }).warnings).toEqual([expect.stringContaining('CLOCK')]);
  });

  it('is refused on the real BigQuery, taken on a local one', () => {
    const environment = { ...BIGQUERY, CLOCK: '2026-09-30T12:00:00Z' };
    expect(fault(environment)).toBe('CLOCK: allowed only with ENGINE=duckdb or BIGQUERY_EMULATOR_HOST.');
    expect(readConfig({ ...environment, BIGQUERY_EMULATOR_HOST: 'localhost:9050' }).clock).not.toBeNull();
  });
});

describe('METRICS_PORT', () => {
  it('is another port than PORT, or any free one', () => {
    expect(fault({ METRICS_PORT: '4000' })).toBe(
      'METRICS_PORT: allowed is another port than PORT; on PORT itself, set METRICS_KEY.',
    );
    expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort).toBe(0);
  });
});

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it.each([
    ['http://localhost:4318', 'http://localhost:4318'],
    ['HTTPS://Collector.Example/', 'https://collector.example'],
    ['https://collector.example/otlp/', 'https://collector.example/otlp'],
  ])('takes %s', (given, collector) => {
    const { tracing } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: given });
    expect(tracing).toEqual({ collector, headers: null, serviceName: 'logquay', begun: 1 });
  });

  it.each([
    ['parentbased_always_on', '0.1', 1],
    ['parentbased_always_off', '0.1', 0],
    ['parentbased_traceidratio', '', 1],
    ['parentbased_traceidratio', '.25', 0.25],
    ['parentbased_traceidratio', '0', 0],
  ])('with %s and %j begins traces of that part of requests', (sampler, ratio, begun) => {
    const environment = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio };
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318';
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...environment }).tracing?.begun).toBe(begun);
  });

  it('alone begins traces', () => {
    expect(readConfig({ OTEL_SERVICE_NAME: 'logs' }).tracing).toBeNull();
  });
});

describe('secrets', () => {
  const config = readConfig({
    API_KEY: 'hunter2',
    REDIS_URL: 'redis://:hunter2@localhost',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2',
  });

  it('print nowhere', () => {
    expect(inspect(config, { depth: null, showHidden: true })).not.toContain('hunter2');
    expect(JSON.stringify({ ...config, maxBytesBilled: null, clock: null })).not.toContain('hunter2');
    expect(String(config.apiKey)).toBe('[secret]');
    expect(config.apiKey?.reveal()).toBe('hunter2');
  });

  it('take the name that Supabase uses, where API_KEY is not set', () => {
    expect(readConfig({ LOGFLARE_PRIVATE_ACCESS_TOKEN: 'theirs' }).apiKey?.reveal()).toBe('theirs');
    expect(readConfig({ LOGFLARE_PRIVATE_ACCESS_TOKEN: 'theirs', API_KEY: 'ours' }).apiKey?.reveal()).toBe('ours');
    expect(new Secret('x')).not.toHaveProperty('value');
  });
});

describe('a Supabase stack', () => {
  const STACK = [
    ['LOGFLARE_SINGLE_TENANT', 'true'],
    ['LOGFLARE_SUPABASE_MODE', 'true'],
    ['LOGFLARE_PUBLIC_ACCESS_TOKEN', 'public'],
    ['GOOGLE_DATASET_ID_APPEND', '_prod'],
    ['POSTGRES_BACKEND_URL', 'postgresql://a:secret@db/_supabase'],
  ] as const;

  it.each(STACK)('says what is missing where %s is set, and serves no sample logs', (name, value) => {
    const missing = new RegExp(`^DATA_DIR: required in a Supabase stack \\(${name} set\\), or BIGQUERY_PROJECT_ID`);
    expect(() => readConfig({ [name]: value })).toThrow(missing);
    expect(() => readConfig({ [name]: value })).not.toThrow(/secret|postgresql/);
    expect(() => readConfig({ [name]: value, ENGINE: 'duckdb', BIGQUERY_PROJECT_ID: 'p' })).toThrow(missing);
    expect(readConfig({ [name]: value, DATA_DIR: 'logs' })).toMatchObject({ duckdb: { dataDir: 'logs' } });
    expect(readConfig({ [name]: value, BIGQUERY_PROJECT_ID: 'p', BIGQUERY_DATASET: 'd' }).engine).toBe('bigquery');
    expect(readConfig({ [name]: '' }).engine).toBe('duckdb');
  });

  it('has the key under three names, of which the first that is set counts', () => {
    const names = ['API_KEY', 'LOGFLARE_PRIVATE_ACCESS_TOKEN', 'LOGFLARE_API_KEY'];
    for (let set = 0; set < names.length; set++) {
      const environment = Object.fromEntries(names.slice(set).map((name) => [name, `value-of-${name}`]));
      expect(readConfig(environment).apiKey?.reveal()).toBe(`value-of-${names[set] ?? ''}`);
    }
    const [warning] = readConfig({ LOGFLARE_API_KEY: 'short' }).warnings;
    expect(warning).toMatch(/^LOGFLARE_API_KEY is shorter/);
  });

  it('has a public token that is not the private one', () => {
    const same = { DATA_DIR: 'logs', LOGFLARE_PUBLIC_ACCESS_TOKEN: 'one', LOGFLARE_PRIVATE_ACCESS_TOKEN: 'one' };
    expect(() => readConfig(same)).toThrow(
      /^LOGFLARE_PUBLIC_ACCESS_TOKEN: allowed is another value than that of LOGFLARE_PRIVATE_ACCESS_TOKEN/,
    );
    expect(readConfig({ ...same, LOGFLARE_PUBLIC_ACCESS_TOKEN: 'other' }).apiKey?.reveal()).toBe('one');
  });

  it.each([
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_DATASET: 'd' }, 'g'],
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_PROJECT_ID: 'b', BIGQUERY_DATASET: 'd' }, 'b'],
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_DATASET: 'd', DATA_DIR: 'logs' }, null],
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_DATASET: 'd', DATA_DIR: 'logs', ENGINE: 'bigquery' }, 'g'],
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_DATASET: 'd', ENGINE: 'duckdb' }, null],
    [{ GOOGLE_PROJECT_ID: 'g', BIGQUERY_EMULATOR_HOST: 'localhost:9050' }, 'g'],
  ])('%j is the project %s', (environment, project) => {
    expect(readConfig(environment).bigquery?.projectId ?? null).toBe(project);
  });

  it('says where to find the data set that GOOGLE_PROJECT_ID needs', () => {
    expect(() => readConfig({ GOOGLE_PROJECT_ID: 'g' })).toThrow(
      /^BIGQUERY_DATASET: required on BigQuery, which GOOGLE_PROJECT_ID chooses: .*GOOGLE_DATASET_ID_APPEND/,
    );
  });
});

describe('CORS_ORIGINS', () => {
  it.each([
    ['*', '*'],
    ['https://a.example, http://localhost:3000', ['https://a.example', 'http://localhost:3000']],
  ])('reads %s', (given, origins) => {
    expect(readConfig({ CORS_ORIGINS: given }).corsOrigins).toEqual(origins);
  });
});

describe('DRAIN_DELAY', () => {
  it('is zero on a terminal, unless it is set', () => {
    const delays = [readConfig({}), readConfig({}, true), readConfig({ DRAIN_DELAY: '3' }, true)];
    expect(delays.map(({ drainDelay }) => drainDelay)).toEqual([5000, 0, 3000]);
  });
});

it('PUBLIC_URL is an http or https URL', () => {
  expect(readConfig({ PUBLIC_URL: 'https://logs.example.com/' }).publicUrl).toBe('https://logs.example.com');
  expect(() => readConfig({ PUBLIC_URL: 'logs.example.com' })).toThrow(/^PUBLIC_URL: allowed is an http or https URL/);
});
