import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { CatalogueError } from '../endpoints';
import { readCatalogue } from '../endpoints';
import { describeEndpoints } from '../openapi';
import { postmanCollection, postmanEnvironment } from './collection';

export interface PostmanOptions {
  /** The folder of the stored queries. */
  readonly queriesDir: string;
  /** Where the service is reached. */
  readonly url: string;
  /** The folder that takes the files; made where it is not there. */
  readonly out: string;
  /** null: to be filled in by hand. */
  readonly key: string | null;
}

/** An invalid `--url`. */
class UrlError extends Error {
  override readonly name = 'UrlError';
}

/**
 * Writes a collection and an environment for Postman and newman from the stored queries. Gives the files written. A file
 * with a key in it is for its owner alone.
 *
 * @throws CatalogueError for a fault in a stored query, UrlError
 */
export async function writePostmanFiles({ queriesDir, url, out, key }: PostmanOptions): Promise<string[]> {
  const baseUrl = readUrl(url);
  const { files, faults } = await readCatalogue(queriesDir);
  if (faults.length > 0) throw new CatalogueError(faults);
  const endpoints = files
    .flatMap(({ definition }) => definition.endpoint ?? [])
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  // For every key and either engine: what not all of them take is there, switched off.
  const described = describeEndpoints(endpoints, { key: null, engine: { kind: 'bigquery', dryRun: true } });

  await mkdir(out, { recursive: true });
  const collection = path.join(out, 'logquay.postman_collection.json');
  await writeFile(collection, toText(postmanCollection(described, baseUrl)));
  const environment = path.join(out, 'logquay.postman_environment.json');
  await writeFile(environment, toText(postmanEnvironment(baseUrl, key ?? '')), key === null ? {} : { mode: 0o600 });
  // The mode of a file that was there before is not that of a new one.
  if (key !== null) await chmod(environment, 0o600);
  return [collection, environment];
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UrlError('--url must be a URL such as http://127.0.0.1:4000');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
