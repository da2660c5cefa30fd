/** Recognises content that has been read before: as a digest that can be continued after a restart. */
import { createHash, type Hash } from 'node:crypto';

/** Bytes that are digested as one. */
export const DIGEST_BLOCK = 256 * 1024;

export interface DigestState {
  /** Digest of all blocks but the last. */
  readonly chain: string;
  /** Digest of the last one, which may be whole; empty: nothing has been digested. */
  readonly rest: string;
}

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
