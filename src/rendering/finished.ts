import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { CONTENT_TYPES, type Representation } from './representation';

export type Encoding = 'gzip' | 'br';

/** Below this many bytes a compressed form is longer than what it stands for. */
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

/** Every form of one result, made. */
export interface Forms {
  readonly bytes: Buffer;
  /** null where compressing does not pay. */
  readonly gzip: Buffer | null;
  readonly br: Buffer | null;
}

/** The finished bytes of one result: what goes over the wire, and what a cache keeps. */
export class Finished {
  /** Weak: the compressed forms share it (RFC 9110, 8.8.3). */
  readonly etag: string;
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

  /** As it was before a cache took it apart. */
  static of({ bytes, gzip, br }: Forms, representation: Representation, truncated: boolean): Finished {
    const finished = new Finished(bytes, representation, truncated);
    finished.#forms = { bytes: finished.bytes, gzip: gzip && owned(gzip), br: br && owned(br) };
    return finished;
  }

  /** Every form there is, if `complete` has been waited for. */
  get forms(): Forms | null {
    return this.#forms;
  }

  /** Makes every form. */
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

  /** The bytes in an encoding, made once; null where it does not pay. */
  encoded(encoding: Encoding): Promise<Buffer> | Buffer | null {
    if (this.#forms !== null) return this.#forms[encoding];
    if (this.bytes.length < WORTH_COMPRESSING) return null;
    let made = this.#compressed.get(encoding);
    if (made === undefined) {
      made = compress[encoding](this.bytes);
      this.#compressed.set(encoding, made);
    }
    return made;
  }
}

/** The same bytes in memory of their own: small buffers are often slices, each of which keeps a far larger one alive. */
function owned(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
