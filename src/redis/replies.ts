/** Answers of Redis as what they must be: what answers otherwise is not Redis, or talks nonsense. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';

  constructor() {
    super('Redis answered with something else than it should.');
  }
}

/** @throws Unexpected */
export function readNumber(answer: unknown): number {
  if (typeof answer !== 'number') throw new Unexpected();
  return answer;
}

/** @throws Unexpected */
export function readFlag(answer: unknown): boolean {
  if (answer !== 0 && answer !== 1) throw new Unexpected();
  return answer === 1;
}

/** @throws Unexpected */
export function readPair(answer: unknown): readonly [number, number] {
  if (!Array.isArray(answer) || answer.length !== 2) throw new Unexpected();
  return [readNumber(answer[0]), readNumber(answer[1])];
}
