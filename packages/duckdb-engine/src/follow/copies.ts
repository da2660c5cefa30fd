/** Whether a file holds what has been read of another: a file that was renamed, copied or compressed by rotation. */
import { stat } from 'node:fs/promises';

import { codeOf } from '../engine/native-error';
import { ContentFault, type ContentOf, readContent, ContentDigest, type Progress } from './content';

/** Bytes by which most contents differ: a line has its own time or id. */
const HEAD = 512;
const LINE_BREAKS = [0x0a, 0x0d];
const GONE: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR']);

/** Whether the content begins with what was read. */
export async function beginsWith(file: ContentOf, read: Progress): Promise<boolean> {
  return (await beginnings(file, [read])).length > 0;
}

/** Those of what was read that the content begins with: it is read once, however many they are. */
export async function beginnings<T extends Progress>(file: ContentOf, all: readonly T[]): Promise<T[]> {
  const wanted = [...all].sort((a, b) => a.position.offset - b.position.offset);
  const digest = new ContentDigest();
  const found: T[] = [];
  const compare = (): void => {
    while (wanted[0]?.position.offset === digest.length) {
      const [read] = wanted.splice(0, 1) as [T];
      if (digest.equals(read.digest)) found.push(read);
    }
  };
  compare();
  try {
    for await (let bytes of readContent(file.path, file.compression, 0, wanted.at(-1)?.position.offset ?? 0)) {
      while (bytes.length > 0) {
        const length = Math.min(bytes.length, wanted[0]!.position.offset - digest.length);
        digest.update(bytes.subarray(0, length));
        bytes = bytes.subarray(length);
        compare();
      }
    }
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
  }
  return found;
}

/** Whether what was taken for the last record goes on. */
export async function continuesRecord(file: ContentOf, { position: { offset } }: Progress): Promise<boolean> {
  for await (const [last, next] of readContent(file.path, file.compression, offset - 1, offset + 1)) {
    return last !== undefined && next !== undefined && ![last, next].some((byte) => LINE_BREAKS.includes(byte));
  }
  return false;
}

/**
 * The first bytes of a content, at most `HEAD`; fewer: there are no more yet.
 *
 * @throws what reading a file throws
 */
export async function headOf(file: ContentOf): Promise<Buffer> {
  const blocks: Buffer[] = [];
  try {
    for await (const block of readContent(file.path, file.compression, 0, HEAD)) blocks.push(block);
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
  }
  return Buffer.concat(blocks);
}

/** Whether two contents differ where both have a beginning. */
export function differ(head: Buffer, other: Buffer): boolean {
  const length = Math.min(head.length, other.length);
  return head.compare(other, 0, length, 0, length) !== 0;
}

/** Whether the content of `copy`, as far as it is there, is what `original` begins with; null: there is none yet. */
export async function isCopySoFar(copy: ContentOf, original: ContentOf): Promise<boolean | null> {
  const theirs = readContent(original.path, original.compression)[Symbol.asyncIterator]();
  let expected: Buffer = Buffer.alloc(0);
  let any = false;
  try {
    for await (let block of readContent(copy.path, copy.compression)) {
      any = true;
      while (block.length > 0) {
        if (expected.length === 0) {
          const next = await theirs.next();
          if (next.done === true) return false;
          expected = next.value;
        }
        const length = Math.min(block.length, expected.length);
        if (block.compare(expected, 0, length, 0, length) !== 0) return false;
        block = block.subarray(length);
        expected = expected.subarray(length);
      }
    }
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
  } finally {
    await theirs.return(undefined);
  }
  return any ? true : null;
}

/**
 * Whether another file, or none, is where one was found: it was renamed, replaced or deleted since, and the next look at the
 * folder shows it.
 *
 * @param identity as of `FoundFile`
 */
export async function isMoved(path: string, identity: string): Promise<boolean> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}` !== identity;
  } catch (error) {
    // What cannot be looked at is as it was, as far as is known.
    return GONE.has(codeOf(error));
  }
}
