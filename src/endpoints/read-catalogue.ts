import path from 'node:path';

import { MOST_OF_QUERY, readBounded } from '../files';
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
  const entries = [...listed];
  const contentsFrom = (start: number): Promise<readonly (Buffer | string)[]> =>
    Promise.all(
      entries
        .slice(start, start + FILES_AT_ONCE)
        .map(([name]) =>
          readBounded(path.join(directory, name), MOST_OF_QUERY).catch((error: unknown) => codeOf(error)),
        ),
    );
  // A batch is read while the one before it is parsed. Between two of them probes are answered, and no more than two are in
  // memory: of thousands of files all contents would be.
  let next = contentsFrom(0);
  for (let start = 0; start < entries.length; start += FILES_AT_ONCE) {
    const contents = await next;
    next = contentsFrom(start + FILES_AT_ONCE);
    next.catch(() => undefined);
    for (const [i, bytes] of contents.entries()) {
      const [name, fingerprint] = entries[start + i] ?? ['', ''];
      const file = path.join(directory, name);
      if (typeof bytes === 'string') {
        faults.push({ file, ...FILE_START, reason: `cannot be read (${bytes})` });
        continue;
      }
      const definition = readDefinition(bytes, file);
      files.push({ name, fingerprint, definition, text: definition.draft?.sql ?? bytes.toString('utf8') });
      faults.push(...definition.faults.map((fault) => ({ file, ...fault })));
    }
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
