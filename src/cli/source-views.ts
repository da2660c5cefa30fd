import { readSources } from '../collector/sources';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Views on the tables that Logflare writes, which are their sources' UUIDs with underscores: paths by the names of the views.
 *
 * @param file sources and their tables, as `import-logflare` writes it
 * @param dataset `project.dataset`
 * @throws ConfigError for a file that is not such a map
 */
export function sourceViews(file: string, dataset: string): ReadonlyMap<string, readonly string[]> {
  const tables = [...readSources(file, '--sources')].filter(([source]) => UUID.test(source));
  return new Map(tables.map(([id, table]) => [table, [...dataset.split('.'), id.replaceAll('-', '_')]]));
}
