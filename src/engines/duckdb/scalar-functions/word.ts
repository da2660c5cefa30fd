// Looked up once: in Jest's contexts each look takes longer than the product.
const { imul } = Math;

/** An integer of 64 bits that wraps, as two halves: a BigInt takes many times as long for each operation. */
export class Word {
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
