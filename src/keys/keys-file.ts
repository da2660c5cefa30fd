import { z } from 'zod';

import { MOST_OF_LIST, readBounded } from '../files';
import { systemCode } from '../errors';

import { type KeyEntry, nameOfEntry, readEntry } from './entry';

const fileSchema = z.strictObject({ keys: z.array(z.unknown()) });

/** The keys file cannot be read at all. The message names the file and holds nothing of its content. */
export class KeysFileError extends Error {
  override readonly name = 'KeysFileError';

  constructor(
    file: string,
    reason: string,
    /** It does not exist. */
    readonly missing: boolean,
    options?: ErrorOptions,
  ) {
    super(`The keys file ${file} cannot be read: ${reason}`, options);
  }
}

/** The entries as written, faulty ones included. Throws `KeysFileError`. */
export async function readWrittenEntries(file: string): Promise<unknown[]> {
  let text: string;
  try {
    text = (await readBounded(file, MOST_OF_LIST)).toString();
  } catch (cause) {
    const code = systemCode(cause) ?? 'unknown failure';
    throw new KeysFileError(file, code, code === 'ENOENT', { cause });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // V8's message quotes the text at fault; that is kept out.
    throw new KeysFileError(file, 'it is no JSON', false);
  }
  const read = fileSchema.safeParse(json);
  if (!read.success) throw new KeysFileError(file, 'it must be an object with "keys", a list, and nothing else', false);
  return read.data.keys;
}

export interface KeysFile {
  readonly entries: readonly KeyEntry[];
  /** What is wrong with the entries that were left out, each with its place and name. */
  readonly faults: readonly string[];
}

/** The sound entries of the file; a faulty one, or one whose name or key an earlier one has, is left out. */
export async function readKeysFile(file: string): Promise<KeysFile> {
  const entries: KeyEntry[] = [];
  const faults: string[] = [];
  for (const [index, written] of (await readWrittenEntries(file)).entries()) {
    const result = readEntry(written);
    const fault = 'fault' in result ? result.fault : twinFault(entries, result.entry);
    if ('entry' in result && fault === null) entries.push(result.entry);
    else faults.push(`entry ${String(index + 1)} (${nameOfEntry(written) ?? 'without a name'}): ${fault ?? ''}`);
  }
  return { entries, faults };
}

function twinFault(entries: readonly KeyEntry[], { key, hash }: KeyEntry): string | null {
  if (entries.some((earlier) => earlier.key.name === key.name)) return 'an earlier entry has this name';
  if (entries.some((earlier) => earlier.hash.equals(hash))) return 'an earlier entry has this key';
  return null;
}
