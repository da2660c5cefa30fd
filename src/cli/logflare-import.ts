/** Reads endpoints and sources of a Logflare over its management API and writes them as files. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { z } from 'zod';

import { readSources } from '@logquay/collector';
import { systemCode } from '@logquay/duckdb-engine/files';
import { importEndpoint, logflareEndpointSchema } from './logflare-endpoint';

export interface ImportRequest {
  /** Of the service, without a path. */
  readonly url: string;
  /** An access token for its management API. */
  readonly token: string;
  /** The folder that takes the files. */
  readonly out: string;
}

/** What is wrong, for the one who typed the command. */
class ImportError extends Error {
  override readonly name = 'ImportError';
}

const sourceSchema = z.object({ name: z.string(), token: z.string() });

const SOURCES_FILE = 'logflare-sources.json';
const TIME = 60_000;
const LONGEST_ANSWER = 64 * 1024 * 1024;

/** @throws ImportError; what was written by then stays */
export async function importLogflare(
  { url, token, out }: ImportRequest,
  { print, note }: { readonly print: (line: string) => void; readonly note: (line: string) => void },
): Promise<void> {
  const origin = URL.canParse(url) ? new URL(url) : null;
  if (origin === null || !/^https?:$/.test(origin.protocol))
    throw new ImportError('--url: an http or https URL is needed.');
  const base = `${origin.origin}${origin.pathname.replace(/\/+$/, '')}`;
  const endpoints = await read(`${base}/api/endpoints`, token, z.array(z.unknown()));
  const sources = await read(`${base}/api/sources`, token, z.array(sourceSchema));
  const tables = tablesOf(sources);
  await mkdir(out, { recursive: true });
  let written = 0;
  for (const [i, given] of endpoints.entries()) {
    const endpoint = logflareEndpointSchema.safeParse(given);
    if (!endpoint.success) {
      note(`endpoint ${String(i + 1)}: left out: it has not the members of an endpoint`);
      continue;
    }
    const { file, notes } = importEndpoint(endpoint.data, tables);
    for (const line of notes) note(`${endpoint.data.name}: ${line}`);
    if (file === null) continue;
    await create(path.join(out, file.name), file.text);
    print(path.join(out, file.name));
    written++;
  }
  const map = sources.flatMap(({ name, token: id }) =>
    [name, id].map((source) => [source, tables.get(source.toLowerCase())] as const),
  );
  await create(path.join(out, SOURCES_FILE), `${JSON.stringify(Object.fromEntries(map), null, 2)}\n`);
  print(path.join(out, SOURCES_FILE));
  note(
    `${String(written)} of ${String(endpoints.length)} endpoints are written. "logquay check" says what does not resolve.`,
  );
}

/** The table of each source, by its name and its UUID in lower case: those of a Supabase stack as the collector has them. */
function tablesOf(sources: readonly z.output<typeof sourceSchema>[]): ReadonlyMap<string, string> {
  const { tables: stock } = readSources(null);
  const tables = new Map<string, string>();
  const taken = new Set(stock.values());
  for (const { name: given, token } of sources) {
    const name = given.toLowerCase();
    const plain = name
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^(?=[^a-z])/, 't')
      .slice(0, 100);
    let table = stock.get(name) ?? plain;
    for (let i = 2; !stock.has(name) && taken.has(table); i++) table = `${plain}_${String(i)}`;
    taken.add(table);
    tables.set(name, table);
    tables.set(token.toLowerCase(), table);
  }
  return tables;
}

async function read<T>(url: string, token: string, schema: z.ZodType<T>): Promise<T> {
  let text: string;
  try {
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
      // The token is for this address alone.
      redirect: 'error',
      signal: AbortSignal.timeout(TIME),
    });
    if (!response.ok) throw new ImportError(`${url} answers ${String(response.status)}.`);
    if (Number(response.headers.get('content-length') ?? 0) > LONGEST_ANSWER)
      throw new ImportError(`${url} answers too much.`);
    text = await response.text();
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${url} cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new ImportError(`${url} answers something else than Logflare does.`);
  }
}

async function create(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new ImportError(`${file} is there already: nothing is overwritten.`);
  }
}
