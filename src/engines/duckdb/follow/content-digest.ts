/** Recognises content that has been read before: as a digest that can be continued after a restart. */
import { createHash, type Hash } from 'node:crypto';

import { type ContentOf, readContent } from './content';
import type { DigestState, Progress } from './records';

/** Bytes that are digested as one. */
export const DIGEST_BLOCK = 256 * 1024;

export class ContentDigest {
  #chain: string;
  #block: Hash = createHash('sha256');
  /** Bytes in the last block. */
  #filled = 0;
  #length: number;

  /** @param from blocks that were digested before; then what lies behind them comes first */
  constructor(from: { readonly blocks: number; readonly chain: string } = { blocks: 0, chain: '' }) {
    this.#chain = from.chain;
    this.#length = from.blocks * DIGEST_BLOCK;
  }

  /** Bytes digested. */
  get length(): number {
    return this.#length;
  }

  update(bytes: Buffer): void {
    for (let start = 0; start < bytes.length;) {
      // Not before something follows: the last block is what a continued digest is checked by.
      if (this.#filled === DIGEST_BLOCK) {
        this.#chain = createHash('sha256').update(this.#chain).update(this.#block.digest()).digest('base64');
        this.#block = createHash('sha256');
        this.#filled = 0;
      }
      const end = Math.min(bytes.length, start + DIGEST_BLOCK - this.#filled);
      this.#block.update(bytes.subarray(start, end));
      this.#filled += end - start;
      this.#length += end - start;
      start = end;
    }
  }

  /** Digests the first `length` bytes of `blocks`, and takes them from there. @returns `length` */
  take(blocks: Buffer[], length: number): number {
    for (let left = length; left > 0;) {
      const [block] = blocks;
      if (block === undefined) throw new Error('There are fewer bytes than were read.');
      const taken = Math.min(block.length, left);
      this.update(block.subarray(0, taken));
      left -= taken;
      if (taken === block.length) blocks.shift();
      else blocks[0] = block.subarray(taken);
    }
    return length;
  }

  state(): DigestState {
    return { chain: this.#chain, rest: this.#filled === 0 ? '' : this.#block.copy().digest('base64') };
  }

  equals(other: DigestState): boolean {
    const { chain, rest } = this.state();
    return chain === other.chain && rest === other.rest;
  }
}

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
}: ContentOf & { readonly from: Progress }): Promise<ContentDigest> {
  const { position, digest: before } = from;
  const blocks = Math.max(0, Math.ceil(position.offset / DIGEST_BLOCK) - 1);
  const digest = new ContentDigest({ blocks, chain: before.chain });
  for await (const bytes of readContent(path, compression, blocks * DIGEST_BLOCK, position.offset))
    digest.update(bytes);
  if (digest.length !== position.offset || !digest.equals(before)) throw new ChangedContent();
  return digest;
}
