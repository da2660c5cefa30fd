/** FarmHash's Fingerprint64 (farmhashna::Hash64), on 64-bit integers that wrap. */

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const SEED = 81n;
const BLOCK = 64;

const wrapped = (x: bigint): bigint => BigInt.asUintN(64, x);
const shiftMix = (x: bigint): bigint => x ^ (x >> 47n);

function rotated(value: bigint, by: bigint): bigint {
  const x = wrapped(value);
  return (x >> by) | wrapped(x << (64n - by));
}

function hashOfTwo(u: bigint, v: bigint, factor: bigint): bigint {
  const a = shiftMix(wrapped((wrapped(u) ^ wrapped(v)) * factor));
  return wrapped(shiftMix(wrapped((wrapped(v) ^ a) * factor)) * factor);
}

type Pair = readonly [bigint, bigint];

/** @returns of 64 bits, without a sign */
export function fingerprint64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (i: number): bigint => view.getBigUint64(i, true);
  if (bytes.length <= 16) return ofUpTo16(view);
  if (bytes.length <= 32) return ofUpTo32(at, bytes.length);
  return bytes.length <= BLOCK ? ofUpTo64(at, bytes.length) : ofMore(at, bytes.length);
}

function ofUpTo16(view: DataView): bigint {
  const { byteLength } = view;
  const length = BigInt(byteLength);
  const factor = wrapped(K2 + length * 2n);
  if (byteLength >= 8) {
    const a = view.getBigUint64(0, true) + K2;
    const b = view.getBigUint64(byteLength - 8, true);
    return hashOfTwo(rotated(b, 37n) * factor + a, (rotated(a, 25n) + b) * factor, factor);
  }
  if (byteLength >= 4) {
    const [a, b] = [view.getUint32(0, true), view.getUint32(byteLength - 4, true)].map(BigInt);
    return hashOfTwo(length + (a! << 3n), b!, factor);
  }
  if (byteLength === 0) return K2;
  const [a, b, c] = [0, byteLength >> 1, byteLength - 1].map((i) => BigInt(view.getUint8(i)));
  return wrapped(shiftMix(wrapped((a! + (b! << 8n)) * K2) ^ wrapped((length + (c! << 2n)) * K0)) * K2);
}

function ofUpTo32(at: (i: number) => bigint, length: number): bigint {
  const factor = wrapped(K2 + BigInt(length) * 2n);
  const [a, b, c, d] = [at(0) * K1, at(8), at(length - 8) * factor, at(length - 16) * K2];
  return hashOfTwo(rotated(a + b, 43n) + rotated(c, 30n) + d, a + rotated(b + K2, 18n) + c, factor);
}

function ofUpTo64(at: (i: number) => bigint, length: number): bigint {
  const factor = wrapped(K2 + BigInt(length) * 2n);
  const [a, b, c, d] = [at(0) * K2, at(8), at(length - 8) * factor, at(length - 16) * K2];
  const y = rotated(a + b, 43n) + rotated(c, 30n) + d;
  const z = hashOfTwo(y, a + rotated(b + K2, 18n) + c, factor);
  const [e, f, g, h] = [at(16) * factor, at(24), (y + at(length - 32)) * factor, (z + at(length - 24)) * factor];
  return hashOfTwo(rotated(e + f, 43n) + rotated(g, 30n) + h, e + rotated(f + a, 18n) + g, factor);
}

interface State {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly v: Pair;
  readonly w: Pair;
}

function ofMore(at: (i: number) => bigint, length: number): bigint {
  const start = SEED * K1 + 113n;
  let state: State = {
    x: wrapped(SEED * K2 + at(0)),
    y: wrapped(start),
    z: wrapped(shiftMix(wrapped(wrapped(start) * K2 + 113n)) * K2),
    v: [0n, 0n],
    w: [0n, 0n],
  };
  const rest = (length - 1) % BLOCK;
  const end = length - 1 - rest;
  for (let i = 0; i < end; i += BLOCK) state = withBlock(state, at, i, K1, 1n);
  const factor = wrapped(K1 + ((state.z & 0xffn) << 1n));
  const w0 = state.w[0] + BigInt(rest);
  const v0 = state.v[0] + w0;
  const last = { ...state, v: [v0, state.v[1]], w: [w0 + v0, state.w[1]] } as const;
  const { x, y, z, v, w } = withBlock(last, at, length - BLOCK, factor, 9n);
  return hashOfTwo(hashOfTwo(v[0], w[0], factor) + shiftMix(y) * K0 + z, hashOfTwo(v[1], w[1], factor) + x, factor);
}

/** @param weight 9 for the last block */
function withBlock(state: State, at: (i: number) => bigint, i: number, factor: bigint, weight: bigint): State {
  const { v, w } = state;
  const x = wrapped(rotated(state.x + state.y + v[0] + at(i + 8), 37n) * factor) ^ wrapped(w[1] * weight);
  const y = wrapped(rotated(state.y + v[1] + at(i + 48), 42n) * factor + v[0] * weight + at(i + 40));
  const z = wrapped(rotated(state.z + w[0], 33n) * factor);
  return {
    x: z,
    y,
    z: x,
    v: weakHash(at, i, v[1] * factor, x + w[0]),
    w: weakHash(at, i + 32, z + w[1], y + at(i + 16)),
  };
}

function weakHash(at: (i: number) => bigint, i: number, a: bigint, b: bigint): Pair {
  const [first, second, third, fourth] = [at(i), at(i + 8), at(i + 16), at(i + 24)];
  const start = wrapped(a + first);
  const all = wrapped(start + second + third);
  return [wrapped(all + fourth), wrapped(rotated(b + start + fourth, 21n) + rotated(all, 44n) + start)];
}
