import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { concurrently } from '@logquay/duckdb-engine/concurrency';
import { systemCode, fingerprintOf, MOST_OF_QUERY, readBounded } from '@logquay/duckdb-engine/files';
import { type Definition, readDefinition } from './definition';
import { type Fault, FILE_START } from './settings';

/** Files that are looked at, or read, at the same time. */
const FILES_AT_ONCE = 32;

/** What tells one state of a file from another without reading it. */
export type Fingerprint = string;

/** The `.sql` files of a directory by name, sorted; hidden files, editors' own, and folders left out. Links are followed. */
export async function listQueries(directory: string): Promise<Map<string, Fingerprint>> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql') && !name.startsWith('.')).sort();
  const files = new Map<string, Fingerprint | null>(names.map((name) => [name, null]));
  await concurrently(FILES_AT_ONCE, names, async (name) => {
    files.set(name, await fingerprintOf(path.join(directory, name), true));
  });
  return new Map([...files].filter((file): file is [string, Fingerprint] => file[1] !== null));
}

/** The bytes of a file, or null when it changed while it was read: it is then read again later. */
export async function readUnchanged(file: string, fingerprint: Fingerprint): Promise<Buffer | null> {
  const bytes = await readBounded(file, MOST_OF_QUERY);
  return (await fingerprintOf(file, true)) === fingerprint ? bytes : null;
}

/** One file's part in the question who may hold an id or a name. */
export interface Contender {
  readonly file: string;
  /** What it serves now; null: nothing. Among themselves these never clash. */
  readonly serving: Definition | null;
  /** What it would rather serve; null: no change. */
  readonly candidate: Definition | null;
}

export interface Clash {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

/**
 * Which candidates have to stand back, and why: two files may not hold one id or one name, and the newcomer yields
 * (of two newcomers the later by file name). A candidate that yields leaves its file with what it serves now, which may
 * then make another candidate yield; several files may thus exchange their names in one go.
 */
export function findClashes(contenders: readonly Contender[]): Map<string, Clash> {
  const refused = new Map<string, Clash>();
  for (;;) {
    const clash = firstClash(contenders, refused);
    if (clash === null) return refused;
    refused.set(clash.file, clash);
  }
}

function firstClash(contenders: readonly Contender[], refused: ReadonlyMap<string, Clash>): Clash | null {
  const holders = new Map<string, Contender>();
  for (const contender of contenders) {
    const held = refused.has(contender.file) ? contender.serving : (contender.candidate ?? contender.serving);
    for (const { key, value } of held?.claims ?? []) {
      const other = holders.get(`${key} ${value}`);
      if (other === undefined) {
        holders.set(`${key} ${value}`, contender);
        continue;
      }
      const [loser, winner] = isNewcomer(contender, key, value) ? [contender, other] : [other, contender];
      const claim = loser.candidate?.claims.find((one) => one.key === key);
      const line = claim === undefined ? 1 : (loser.candidate?.lineOf(claim) ?? 1);
      return { file: loser.file, line, reason: `the ${key} ${value} is already that of ${winner.file}` };
    }
  }
  return null;
}

function isNewcomer({ serving }: Contender, key: string, value: string): boolean {
  return serving?.claims.some((claim) => claim.key === key && claim.value === value) !== true;
}

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
