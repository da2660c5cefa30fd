/** Whether a file holds what has been read of another: a file that was renamed, copied or compressed by rotation. */
import { readContent } from './content';
import { ContentFault } from './content-fault';
import { ContentDigest } from './content-digest';
import type { Progress } from './segment-job';
import type { Compression } from './source-name';

const LINE_BREAKS = [0x0a, 0x0d];

export interface ContentOf {
  /** Of the file. */
  readonly path: string;
  readonly compression: Compression;
}

/** Whether the content begins with what was read. */
export async function beginsWith(file: ContentOf, { position, digest: before }: Progress): Promise<boolean> {
  const digest = new ContentDigest();
  try {
    for await (const bytes of readContent(file.path, file.compression, 0, position.offset)) digest.update(bytes);
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
  }
  return digest.length === position.offset && digest.equals(before);
}

/** Whether what was taken for the last record goes on. */
export async function continuesRecord(file: ContentOf, { position: { offset } }: Progress): Promise<boolean> {
  for await (const [next] of readContent(file.path, file.compression, offset, offset + 1)) {
    return next !== undefined && !LINE_BREAKS.includes(next);
  }
  return false;
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
