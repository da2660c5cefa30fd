/** The content of a data file, decompressed. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { constants, createGunzip } from 'node:zlib';

import { Decompress, ZstdErrorCode } from 'fzstd';

import { codeOf } from '../engine/native-error';
import type { Compression } from './folder-scan';

/** How far a content has been read, so that it can be read on from there. */
export interface Position {
  /** Bytes of content. */
  readonly offset: number;
  /** Lines, elements or records. */
  readonly records: number;
  /** Of a CSV file: its columns. */
  readonly header: readonly string[] | null;
  /** Of a JSON file: whether it is one array; null: not known yet. */
  readonly array: boolean | null;
  /** Of a log: whether its lines are plain text; null: not known yet. */
  readonly text: boolean | null;
  /** Whether the last record was taken without its end: what follows may belong to it. */
  readonly open: boolean;
  /** Whether what follows belongs to a record that is too long, of which the beginning is left out. */
  readonly tooLong: boolean;
}

/** What has been read, as it can be digested on. */
export interface DigestState {
  /** Digest of all blocks but the last. */
  readonly chain: string;
  /** Digest of the last one, which may be whole; empty: nothing has been digested. */
  readonly rest: string;
}

/** How far a source has been read. */
export interface Progress {
  readonly position: Position;
  readonly digest: DigestState;
}

export const START: Position = {
  offset: 0,
  records: 0,
  header: null,
  array: null,
  text: null,
  open: false,
  tooLong: false,
};

/** The content of a file is not what its name says, or ends before it should. */
export class ContentFault extends Error {
  override readonly name = 'ContentFault';
}

export interface ContentOf {
  /** Of the file. */
  readonly path: string;
  readonly compression: Compression;
}

const READ_AT_ONCE = 256 * 1024;

/**
 * The content from `from` bytes on, up to `to`. What is whole of an unfinished archive comes before the error.
 *
 * @throws ContentFault for an archive that is unfinished or none; what reading a file throws
 */
export async function* readContent(
  path: string,
  compression: Compression,
  from = 0,
  to = Infinity,
): AsyncGenerator<Buffer> {
  if (to <= from) return;
  if (compression === 'none') {
    const end = to === Infinity ? {} : { end: to - 1 };
    yield* createReadStream(path, { start: from, ...end, highWaterMark: READ_AT_ONCE }) as AsyncIterable<Buffer>;
    return;
  }
  let at = 0;
  for await (const block of compression === 'gzip' ? gunzipped(path) : zstdDecompressed(path)) {
    const wanted = block.subarray(Math.max(0, from - at), Math.max(0, to - at));
    at += block.length;
    if (wanted.length > 0) yield wanted;
    if (at >= to) return;
  }
}

async function* gunzipped(path: string): AsyncGenerator<Buffer> {
  let given = 0;
  try {
    for await (const block of gunzip(path, constants.Z_FINISH)) {
      given += block.length;
      yield block;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'Z_BUF_ERROR') {
      let at = 0;
      // Now with what comes before the end that is missing.
      for await (const block of gunzip(path, constants.Z_SYNC_FLUSH)) {
        const wanted = block.subarray(Math.max(0, given - at));
        at += block.length;
        if (wanted.length > 0) yield wanted;
      }
      throw new ContentFault('an unfinished gzip archive');
    }
    throw code?.startsWith('Z_') === true ? new ContentFault(`not a whole gzip archive (${code})`) : error;
  }
}

async function* gunzip(path: string, finishFlush: number): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: READ_AT_ONCE });
  const bytes = file.pipe(createGunzip({ finishFlush, chunkSize: READ_AT_ONCE }));
  // A pipe does not hand an error on.
  file.on('error', (error) => bytes.destroy(error));
  try {
    yield* bytes as AsyncIterable<Buffer>;
    if (file.bytesRead === 0) throw new ContentFault('an empty archive');
  } finally {
    file.destroy();
  }
}

async function* zstdDecompressed(path: string): AsyncGenerator<Buffer> {
  const blocks: Buffer[] = [];
  let ended = false;
  const archive = new Decompress((block, final) => {
    if (block.length > 0) blocks.push(Buffer.from(block));
    ended ||= final === true;
  });
  const file: ReadStream = createReadStream(path, { highWaterMark: READ_AT_ONCE });
  try {
    for await (const part of file as AsyncIterable<Buffer>) {
      decompressing(() => void archive.push(part));
      yield* blocks.splice(0);
    }
    if (file.bytesRead === 0) throw new ContentFault('an empty archive');
    decompressing(() => void archive.push(new Uint8Array(0), true));
    yield* blocks.splice(0);
    if (!ended) throw new ContentFault('an unfinished zstd archive');
  } finally {
    file.destroy();
  }
}

function decompressing(work: () => void): void {
  try {
    work();
  } catch (error) {
    const unfinished = codeOf(error) === String(ZstdErrorCode.UnexpectedEOF);
    throw new ContentFault(unfinished ? 'an unfinished zstd archive' : 'not a whole zstd archive');
  }
}

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
