import { z } from 'zod';

import { MOST_OF_LIST, readBoundedSync, systemCode } from '@logquay/duckdb-engine/files';

/** Where events go, and what says so. */
export interface Sources {
  /** Which table each source of logs feeds, by its name or UUID in lower case. */
  readonly tables: ReadonlyMap<string, string>;
  /** The header that names the source of all events of a request, in lower case; null: none does. */
  readonly header: string | null;
  /** Where an event names its source: members, from the outside in; null: nowhere. */
  readonly member: readonly string[] | null;
  /** The resource attribute of OpenTelemetry that becomes the project of its records; null: none does. */
  readonly projectAttribute: string | null;
}

/** The sources of a Supabase stack, as its Vector names them. */
const STOCK: readonly (readonly [source: string, table: string])[] = [
  ['cloudflare.logs.prod', 'raw_edge_logs'],
  ['postgres.logs', 'raw_postgres_logs'],
  ['deno-relay-logs', 'raw_function_edge_logs'],
  ['deno-subhosting-events', 'raw_function_logs'],
  ['gotrue.logs.prod', 'raw_auth_logs'],
  ['realtime.logs.prod', 'raw_realtime_logs'],
  ['storage.logs.prod.2', 'raw_storage_logs'],
  ['postgREST.logs.prod', 'raw_postgrest_logs'],
  ['pgbouncer.logs.prod', 'raw_pgbouncer_logs'],
];

/** A file of sources that cannot be used; its message is for operators. */
class SourcesError extends Error {
  override readonly name = 'SourcesError';
}

const MOST_SOURCES = 1000;
/** A folder of DATA_DIR that is read as a table, whatever the file system thinks of letter case. */
const TABLE = /^[a-z][a-z0-9_]{0,127}$/;

const name = z.string().min(1).max(256);

/** A file that says more than which table each source feeds. Strict: what is misspelt would send events elsewhere. */
const settingsSchema = z.strictObject(
  {
    sources: z
      .record(z.string(), z.unknown(), { error: 'must be an object from names of sources to tables' })
      .default({}),
    sourceHeader: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'must be the name of a header' })
      .optional(),
    sourceMember: z
      .union([name.transform((path) => path.split('.')), z.array(name).min(1).max(16)], {
        error: 'must be the name of a member, a path of names with dots between, or a list of names',
      })
      .optional(),
    projectAttribute: name.optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? `has no member ${keys.join(', ')}: sources are named in "sources"` : undefined,
  },
);
type Settings = z.output<typeof settingsSchema>;

/**
 * The stock sources, and those of a settings file: an object from a source's name or UUID to the table that it feeds; or one with these
 * in `sources`, and with what names the source and the project beside it.
 *
 * @param file null: there is none
 * @param setting what names the file
 * @throws SourcesError for a file that is not such an object
 */
export function readSources(file: string | null, setting = 'COLLECT_SOURCES'): Sources {
  const given: Settings = file === null ? { sources: {} } : settingsOf(readObject(file, setting), setting);
  const tables = new Map(STOCK.map(([source, table]) => [source.toLowerCase(), table]));
  for (const [source, table] of Object.entries(given.sources)) {
    if (typeof table !== 'string' || !TABLE.test(table)) {
      throw new SourcesError(
        `${setting}: the table of "${source}" must be a name of lower-case letters, digits and "_".`,
      );
    }
    tables.set(source.toLowerCase(), table);
  }
  if (tables.size > MOST_SOURCES) {
    throw new SourcesError(`${setting}: allowed are ${String(MOST_SOURCES)} sources.`);
  }
  return {
    tables,
    header: given.sourceHeader?.toLowerCase() ?? null,
    member: given.sourceMember ?? null,
    projectAttribute: given.projectAttribute ?? null,
  };
}

function settingsOf(object: object, setting: string): Settings {
  const says = (member: keyof Settings): boolean => Object.hasOwn(object, member);
  const isTables = !says('sourceHeader') && !says('sourceMember') && !says('projectAttribute');
  if (isTables && !('sources' in object && typeof object.sources === 'object')) return { sources: { ...object } };
  const read = settingsSchema.safeParse(object);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => [...path, message].join(' '));
  throw new SourcesError(`${setting}: ${faults.join('; ')}.`);
}

function readObject(file: string, setting: string): object {
  let value: unknown;
  try {
    value = JSON.parse(readBoundedSync(file, MOST_OF_LIST).toString());
  } catch (error) {
    throw new SourcesError(`${setting}: ${file} cannot be read: ${systemCode(error) ?? 'it is no JSON'}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new SourcesError(`${setting}: ${file} must be an object from names of sources to tables.`);
}
