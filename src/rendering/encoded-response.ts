import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { SPARE_ROOM } from '@logquay/duckdb-engine/contract';
import { CONTENT_TYPES, type Representation } from './representation';

export type Encoding = 'gzip' | 'br';

/** Shorter bodies grow when compressed, in bytes. */
const WORTH_COMPRESSING = 128;

const compress: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gzip)(bytes, { level: 6 }),
  // Quality 4 packs logs better than gzip in the same time; the default, 11, takes fifty times that.
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
};

/** A body and its compressed encodings. */
export interface Forms {
  readonly bytes: Buffer;
  /** null: not worth compressing. */
  readonly gzip: Buffer | null;
  readonly br: Buffer | null;
}

/** The encoded body of one result, as sent and as cached. */
export class EncodedResponse {
  /** Weak: the compressed forms share it (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Rows of the result; undefined: not known. */
  rows: number | undefined;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();
  #forms: Forms | null = null;
  readonly bytes: Buffer;

  constructor(
    bytes: Buffer,
    readonly representation: Representation,
    /** Whether max rows cut the result. */
    readonly truncated: boolean,
    /** SHA-256 of the bytes, where it is known. */
    digest = createHash('sha256').update(bytes).digest('base64url'),
  ) {
    this.bytes = owned(bytes);
    this.etag = `W/"${digest}"`;
  }

  /** Restores one from its cached encodings. */
  static of({ bytes, gzip, br }: Forms, representation: Representation, truncated: boolean): EncodedResponse {
    const response = new EncodedResponse(bytes, representation, truncated);
    response.#forms = { bytes: response.bytes, gzip: gzip && owned(gzip), br: br && owned(br) };
    return response;
  }

  /** All encodings once `complete` has resolved, else null. */
  get forms(): Forms | null {
    return this.#forms;
  }

  /** Creates all encodings. */
  async complete(): Promise<Forms> {
    if (this.#forms !== null) return this.#forms;
    const [gzip, br] = await Promise.all([this.encoded('gzip'), this.encoded('br')]);
    this.#forms ??= { bytes: this.bytes, gzip: gzip && owned(gzip), br: br && owned(br) };
    this.#compressed.clear();
    return this.#forms;
  }

  get contentType(): string {
    return CONTENT_TYPES[this.representation];
  }

  /** The compressed body, created once; null: not worth compressing. */
  encoded(encoding: Encoding): Promise<Buffer> | Buffer | null {
    if (this.#forms !== null) return this.#forms[encoding];
    if (this.bytes.length < WORTH_COMPRESSING) return null;
    let compressed = this.#compressed.get(encoding);
    if (compressed === undefined) {
      compressed = compress[encoding](this.bytes);
      this.#compressed.set(encoding, compressed);
    }
    return compressed;
  }
}

/** The bytes in their own memory: a small Buffer is often a slice that keeps a much larger pool alive. */
function owned(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength - bytes.length <= SPARE_ROOM) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
