import { writeFile } from 'node:fs/promises';

import { StoredAnalyses } from '../analysis/stored-analyses';
import { openEngine } from '../app';
import { clientSource } from '../client/source';
import { type Config, readConfig } from '../config';
import { CatalogueError, type Endpoint, readCatalogue } from '../endpoints';
import type { NamedType } from '../googlesql/types';
import { openLog } from '../log';
import { describeEndpoints } from '../openapi';
import { Gate } from '../sandbox';
import { schemaAnalyses } from './schema-analyses';
import type { Surroundings } from './surroundings';

/** Milliseconds for the analysis of one stored query. */
const PATIENCE = 30_000;

/**
 * Writes the client of the stored queries.
 *
 * @param file null: the standard output
 * @throws ConfigError, CatalogueError, DataFault as at a start; ServiceError where the engine does not answer
 */
export async function writeClient(
  file: string | null,
  environment: Surroundings['environment'],
  { out, note }: Pick<Surroundings, 'out' | 'note'>,
): Promise<void> {
  const config = readConfig(environment);
  const { files, faults } = await readCatalogue(config.queriesDir);
  if (faults.length > 0) throw new CatalogueError(faults);
  const endpoints = files.flatMap(({ definition }) => definition.endpoint ?? []);
  endpoints.sort((a, b) => (a.name < b.name ? -1 : 1));
  const columns = await columnsOfAll(endpoints, config, note);
  // For every key: what a program may do is for its key to say.
  const readers = { key: null, engine: { kind: config.engine, dryRun: config.engine === 'bigquery' } };
  const source = clientSource(describeEndpoints(endpoints, readers, (endpoint) => columns.get(endpoint) ?? null));
  if (file === null) out(source.trimEnd());
  else await writeFile(file, source);
}

async function columnsOfAll(
  endpoints: readonly Endpoint[],
  config: Config,
  note: Surroundings['note'],
): Promise<ReadonlyMap<Endpoint, readonly NamedType[]>> {
  const { analyses, close } = await openAnalyses(endpoints, config);
  const known = new Map<Endpoint, readonly NamedType[]>();
  try {
    for (const endpoint of endpoints) {
      const limits = { deadline: performance.now() + PATIENCE, signal: new AbortController().signal };
      const { columns, errors } = await analyses.of(endpoint, limits);
      if (columns !== null) known.set(endpoint, columns);
      else note(`${endpoint.name}: its rows have no types, as it does not resolve: ${errors[0]?.message ?? ''}`);
    }
    return known;
  } finally {
    await close();
  }
}

async function openAnalyses(
  endpoints: readonly Endpoint[],
  config: Config,
): Promise<{ analyses: StoredAnalyses; close: () => Promise<void> }> {
  if (config.engine === 'duckdb') {
    return { analyses: await schemaAnalyses(config.duckdb.dataDir), close: () => Promise.resolve() };
  }
  const log = openLog('warn', process.stderr);
  const engine = await openEngine({ ...config, sandboxDryRun: false }, { current: () => endpoints }, log);
  const gate = new Gate(engine);
  const close = async (): Promise<void> => {
    await gate.close();
    await engine.close();
  };
  return { analyses: new StoredAnalyses(engine, gate), close };
}
