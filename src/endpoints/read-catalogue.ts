import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { concurrently } from '../concurrency/concurrently';
import { systemCode } from '../errors';

import { findClashes } from './clashes';
import { type Definition, readDefinition } from './definition';
import { FILES_AT_ONCE, type Fingerprint, listQueries } from './directory';
import type { Fault } from './fault';
import { FILE_START } from './settings';

export interface ReadFile {
  readonly name: string;
  readonly fingerprint: Fingerprint;
  readonly definition: Definition;
  readonly text: string;
}

/** Everything that a directory of stored queries holds, and everything that is wrong with it. */
export interface ReadCatalogue {
  readonly files: readonly ReadFile[];
  readonly faults: readonly Fault[];
}

/** Reads the whole directory once. Faults are collected over all files; the promise does not reject for them. */
export async function readCatalogue(directory: string): Promise<ReadCatalogue> {
  const files: ReadFile[] = [];
  const faults: Fault[] = [];
  let listed: ReadonlyMap<string, Fingerprint>;
  try {
    listed = await listQueries(directory);
  } catch (error) {
    return { files, faults: [{ file: directory, ...FILE_START, reason: `cannot be read (${codeOf(error)})` }] };
  }
  const contents = new Map<string, Buffer | string>();
  await concurrently(FILES_AT_ONCE, listed.keys(), async (name) => {
    contents.set(name, await readFile(path.join(directory, name)).catch(codeOf));
  });
  for (const [name, fingerprint] of listed) {
    const file = path.join(directory, name);
    const bytes = contents.get(name) ?? '';
    if (typeof bytes === 'string') {
      faults.push({ file, ...FILE_START, reason: `cannot be read (${bytes})` });
      continue;
    }
    const definition = readDefinition(bytes, file);
    files.push({ name, fingerprint, definition, text: bytes.toString('utf8') });
    faults.push(...definition.faults.map((fault) => ({ file, ...fault })));
    // Thousands of them take a while, and probes are answered meanwhile.
    if (files.length % FILES_AT_ONCE === 0) await setImmediate();
  }
  const clashes = findClashes(
    files.map(({ name, definition }) => ({ file: name, serving: null, candidate: definition })),
  );
  for (const { file, line, reason } of clashes.values()) {
    faults.push({ file: path.join(directory, file), line, column: 1, reason });
  }
  return { files, faults };
}

/** The system's code for a failed file operation; any other failure is ours and is thrown on. */
export function codeOf(error: unknown): string {
  const code = systemCode(error);
  if (code === null) throw error;
  return code;
}
