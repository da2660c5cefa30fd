/** Hashes that DuckDB has not: SHA512, and FarmHash's Fingerprint64 (farmhashna::Hash64). */
import { createHash } from 'node:crypto';
import { scalarFunction } from './scalar-function';

// Looked up once: in Jest's contexts each look takes longer than the product.
const { imul } = Math;

/** An integer of 64 bits that wraps, as two halves: a BigInt takes many times as long for each operation. */
class Word {
  #high: number;
  #low: number;

  constructor(value = 0n) {
    this.#high = Number(BigInt.asIntN(32, value >> 32n));
    this.#low = Number(BigInt.asIntN(32, value));
  }

  /** From -2^63 to 2^63 - 1. */
  get value(): bigint {
    return (BigInt(this.#high) << 32n) | BigInt(this.#low >>> 0);
  }

  /** The lowest byte. */
  get byte(): number {
    return this.#low & 0xff;
  }

  // The methods below change this word and return it.

  set(other: Word): this {
    this.#high = other.#high;
    this.#low = other.#low;
    return this;
  }

  /** @param value an integer from 0 to 2^35 */
  setNumber(value: number): this {
    this.#high = Math.floor(value / 0x100000000);
    this.#low = value | 0;
    return this;
  }

  /** Eight bytes from `at` on, the lowest first. */
  read(bytes: DataView, at: number): this {
    this.#low = bytes.getInt32(at, true);
    this.#high = bytes.getInt32(at + 4, true);
    return this;
  }

  add(other: Word): this {
    return this.addHalves(other.#high, other.#low);
  }

  /** Adds the eight bytes from `at` on. */
  addBytes(bytes: DataView, at: number): this {
    return this.addHalves(bytes.getInt32(at + 4, true), bytes.getInt32(at, true));
  }

  /** @param value an integer from 0 to 2^31 - 1 */
  addNumber(value: number): this {
    return this.addHalves(0, value);
  }

  /** @param high and `low` are of 32 bits, with a sign */
  addHalves(high: number, low: number): this {
    const sum = (this.#low + low) | 0;
    const carry = sum >>> 0 < low >>> 0 ? 1 : 0;
    this.#high = (this.#high + high + carry) | 0;
    this.#low = sum;
    return this;
  }

  xor(other: Word): this {
    this.#high ^= other.#high;
    this.#low ^= other.#low;
    return this;
  }

  multiply(other: Word): this {
    const a = this.#low;
    const b = other.#low;
    const a0 = a & 0xffff;
    const a1 = a >>> 16;
    const b0 = b & 0xffff;
    const b1 = b >>> 16;
    // The upper half of the lower halves' product, from products of sixteen bits.
    const inner = (imul(a1, b0) >>> 0) + (imul(a0, b0) >>> 16);
    const outer = (imul(a0, b1) >>> 0) + (inner & 0xffff);
    const upper = imul(a1, b1) + (inner >>> 16) + (outer >>> 16);
    this.#high = (upper + imul(this.#high, b) + imul(a, other.#high)) | 0;
    this.#low = imul(a, b);
    return this;
  }

  /** @param by from 1 to 63, without 32 */
  rotateRight(by: number): this {
    const near = by < 32;
    const high = near ? this.#high : this.#low;
    const low = near ? this.#low : this.#high;
    const bits = by & 31;
    this.#high = (high >>> bits) | (low << (32 - bits));
    this.#low = (low >>> bits) | (high << (32 - bits));
    return this;
  }

  /** Its upper 17 bits upon its lowest. */
  mix(): this {
    this.#low ^= this.#high >>> 15;
    return this;
  }
}

const K0 = new Word(0xc3a5c85c97cb3127n);
const K1 = new Word(0xb492b66fbe98f273n);
const K2 = new Word(0x9ae16a3b2f90404fn);
const SEED = new Word(81n);
const NINE = new Word(9n);
const BLOCK = 64;

const copy = (word: Word): Word => new Word().set(word);

/** @returns from -2^63 to 2^63 - 1 */
function fingerprint64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length <= 16) return ofUpTo16(view).value;
  if (bytes.length <= 32) return ofUpTo32(view).value;
  return (bytes.length <= BLOCK ? ofUpTo64(view) : ofMore(view)).value;
}

/** Changes neither. */
function hashOfTwo(u: Word, v: Word, factor: Word): Word {
  const a = copy(u).xor(v).multiply(factor).mix();
  return a.xor(v).multiply(factor).mix().multiply(factor);
}

/** The factor for texts of up to 64 bytes. */
function factorOf(length: number): Word {
  return copy(K2).addNumber(2 * length);
}

function ofUpTo16(view: DataView): Word {
  const { byteLength: length } = view;
  if (length >= 8) {
    const factor = factorOf(length);
    const a = new Word().read(view, 0).add(K2);
    const b = new Word().read(view, length - 8);
    const c = copy(b).rotateRight(37).multiply(factor).add(a);
    return hashOfTwo(c, a.rotateRight(25).add(b).multiply(factor), factor);
  }
  if (length >= 4) {
    const first = new Word().setNumber(view.getUint32(0, true) * 8).addNumber(length);
    return hashOfTwo(first, new Word().setNumber(view.getUint32(length - 4, true)), factorOf(length));
  }
  if (length === 0) return K2;
  const y = new Word().setNumber(view.getUint8(0) + view.getUint8(length >> 1) * 256);
  const z = new Word().setNumber(length + view.getUint8(length - 1) * 4);
  return y.multiply(K2).xor(z.multiply(K0)).mix().multiply(K2);
}

function ofUpTo32(view: DataView): Word {
  const { byteLength: length } = view;
  const factor = factorOf(length);
  const a = new Word().read(view, 0).multiply(K1);
  const b = new Word().read(view, 8);
  const c = new Word().read(view, length - 8).multiply(factor);
  const d = new Word().read(view, length - 16).multiply(K2);
  return hashOfTwo(sumOf(a, b, c, d), rotatedSumOf(a, b, c), factor);
}

/** In `d`. */
function sumOf(a: Word, b: Word, c: Word, d: Word): Word {
  return d.add(copy(a).add(b).rotateRight(43)).add(copy(c).rotateRight(30));
}

function rotatedSumOf(a: Word, b: Word, c: Word): Word {
  return copy(b).add(K2).rotateRight(18).add(a).add(c);
}

function ofUpTo64(view: DataView): Word {
  const { byteLength: length } = view;
  const factor = factorOf(length);
  const a = new Word().read(view, 0).multiply(K2);
  const b = new Word().read(view, 8);
  const c = new Word().read(view, length - 8).multiply(factor);
  const d = new Word().read(view, length - 16).multiply(K2);
  const y = sumOf(a, b, c, d);
  const z = hashOfTwo(y, rotatedSumOf(a, b, c), factor);
  const e = new Word().read(view, 16).multiply(factor);
  const f = new Word().read(view, 24);
  const g = y.addBytes(view, length - 32).multiply(factor);
  const h = z.addBytes(view, length - 24).multiply(factor);
  return hashOfTwo(sumOf(e, f, g, h), f.add(a).rotateRight(18).add(e).add(g), factor);
}

/** Of texts of more than 64 bytes: what each block of them changes. */
class State {
  readonly x = copy(SEED);
  readonly y = copy(SEED).multiply(K1).addNumber(113);
  readonly z = copy(this.y).multiply(K2).addNumber(113).mix().multiply(K2);
  readonly v0 = new Word();
  readonly v1 = new Word();
  readonly w0 = new Word();
  readonly w1 = new Word();
  readonly #a = new Word();
  readonly #b = new Word();
  readonly #c = new Word();

  take(view: DataView, at: number, factor: Word, isLast: boolean): void {
    const { x, y, z, v0, v1, w0, w1 } = this;
    const a = this.#a;
    const b = this.#b;
    x.add(y)
      .add(v0)
      .addBytes(view, at + 8)
      .rotateRight(37)
      .multiply(factor);
    y.add(v1)
      .addBytes(view, at + 48)
      .rotateRight(42)
      .multiply(factor);
    x.xor(isLast ? a.set(w1).multiply(NINE) : w1);
    y.add(isLast ? a.set(v0).multiply(NINE) : v0).addBytes(view, at + 40);
    z.add(w0).rotateRight(33).multiply(factor);
    this.#weak(view, at, a.set(v1).multiply(factor), b.set(x).add(w0), v0, v1);
    this.#weak(view, at + 32, a.set(z).add(w1), b.set(y).addBytes(view, at + 16), w0, w1);
    a.set(x);
    x.set(z);
    z.set(a);
  }

  /** Changes `a` and `b`. */
  #weak(view: DataView, at: number, a: Word, b: Word, first: Word, second: Word): void {
    a.addBytes(view, at);
    b.add(a)
      .addBytes(view, at + 24)
      .rotateRight(21);
    second.set(a);
    a.addBytes(view, at + 8).addBytes(view, at + 16);
    second.add(b).add(this.#c.set(a).rotateRight(44));
    first.set(a).addBytes(view, at + 24);
  }
}

function ofMore(view: DataView): Word {
  const { byteLength: length } = view;
  const state = new State();
  const { x, y, z, v0, v1, w0, w1 } = state;
  x.multiply(K2).addBytes(view, 0);
  const rest = (length - 1) % BLOCK;
  const end = length - 1 - rest;
  for (let at = 0; at < end; at += BLOCK) state.take(view, at, K1, false);
  const factor = copy(K1).addNumber(2 * z.byte);
  w0.addNumber(rest);
  v0.add(w0);
  w0.add(v0);
  state.take(view, length - BLOCK, factor, true);
  const first = hashOfTwo(v0, w0, factor).add(y.mix().multiply(K0)).add(z);
  return hashOfTwo(first, hashOfTwo(v1, w1, factor).add(x), factor);
}

export const farmFingerprint = scalarFunction(['bytes'], 'integer', (bytes) => fingerprint64(bytes));

export const sha512 = scalarFunction(['bytes'], 'bytes', (bytes) => createHash('sha512').update(bytes).digest());
