/** The content of a data file, decompressed. */
import { createReadStream, type ReadStream } from 'node:fs';
import { constants, createGunzip } from 'node:zlib';
import { Decompress, ZstdErrorCode } from 'fzstd';

import { codeOf } from '../engine/native-error';
import type { Compression } from './source-name';

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
