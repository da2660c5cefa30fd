import { readContent } from './content';
import { ContentDigest, DIGEST_BLOCK } from './content-digest';
import type { Range } from './segment-job';

/** The file does not hold (any more) what was read of it before. */
export class ChangedContent extends Error {
  override readonly name = 'ChangedContent';

  constructor() {
    super('The file is not the one that was read.');
  }
}

/**
 * The digest of what has been read of a file, to be continued: its last block is read again.
 *
 * @throws ChangedContent where that is not what was read before
 */
export async function resumeDigest({
  path,
  compression,
  from,
}: Pick<Range, 'path' | 'compression' | 'from'>): Promise<ContentDigest> {
  const { position, digest: before } = from;
  const blocks = Math.max(0, Math.ceil(position.offset / DIGEST_BLOCK) - 1);
  const digest = new ContentDigest({ blocks, chain: before.chain });
  for await (const bytes of readContent(path, compression, blocks * DIGEST_BLOCK, position.offset))
    digest.update(bytes);
  if (digest.length !== position.offset || !digest.equals(before)) throw new ChangedContent();
  return digest;
}
