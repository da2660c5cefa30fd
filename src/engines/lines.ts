/** Rows of a result as lines of bytes: each is the text of one JSON object with a newline behind it, and none within. */

/** In their order. */
export interface Lines {
  /** Each holds whole lines, in UTF-8. */
  readonly parts: readonly Uint8Array[];
  readonly count: number;
}

/** Bytes before and behind lines that `withRoom` has made place for. */
const ROOM = 64;
/** Bytes of both. */
export const SPARE_ROOM = 2 * ROOM;
const ROOMY = new WeakSet<ArrayBufferLike>();

/** Memory for lines to which something can be added at both ends without copying them: `around`. @param size bytes of the lines */
export function withRoom(size: number): Buffer {
  const all = Buffer.allocUnsafeSlow(size + SPARE_ROOM);
  ROOMY.add(all.buffer);
  return all.subarray(ROOM, ROOM + size);
}

/** The same memory with `before` bytes more before it, and `behind` behind it; null: it is not of `withRoom`, or has less room. */
export function around({ buffer, byteOffset, byteLength }: Uint8Array, before: number, behind: number): Buffer | null {
  if (before > ROOM || behind > ROOM || !ROOMY.has(buffer)) return null;
  return Buffer.from(buffer, byteOffset - before, before + byteLength + behind);
}

/** The texts of rows, one by one. */
export function textsOf({ parts }: Lines): readonly string[] {
  return parts.flatMap((part) => bufferOf(part).toString().split('\n').slice(0, -1));
}

/** The same bytes. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A result of an engine that bills nothing, with its rows as lines and as texts: these are made when they are first read. */
export function resultOf<T>(outcome: T, lines: Lines): T & Rows & typeof UNBILLED {
  let rows: readonly string[] | null = null;
  return Object.defineProperty({ ...outcome, ...UNBILLED, lines }, 'rows', {
    get: () => (rows ??= textsOf(lines)),
    enumerable: true,
  }) as T & Rows & typeof UNBILLED;
}

const UNBILLED = { bytesProcessed: null, bytesBilled: null } as const;

interface Rows {
  readonly lines: Lines;
  readonly rows: readonly string[];
}
