/** One run of the tester: so many expressions from one seed. */
import { oneOf } from '../../scale';
import { Random } from '../random';
import type { Findings } from './difference';
import type { Engines } from './engines';
import { Generator, STARTS } from './generate';
import { NAME_KINDS, namesOf } from './names';
import { aggregated, AGGREGATES, placed, PLACE_NAMES } from './query';
import { checkQuery } from './query-check';
import { ROWS, ScalarCheck } from './scalar';

/** Expressions in one SELECT. */
const BATCH = 16;

export interface RunOptions {
  /** Expressions and queries. */
  readonly count: number;
  readonly seed: number;
  /** Of functions, constructs and places. */
  readonly only?: RegExp | undefined;
  /** One of so many of these. */
  readonly part?: number;
}

/**
 * Holds the engines together on `count` expressions and queries: every function, construct and place, round by
 * round. Each is made from the seed, its name and the round alone, so that a new function changes none of the others.
 */
export async function run(
  engines: Pick<Engines, 'embedded' | 'reference'>,
  findings: Findings,
  { count, seed, only, part = 1 }: RunOptions,
  progress: (done: number) => void = () => undefined,
): Promise<void> {
  const scalar = new ScalarCheck(engines, findings);
  const chosen = (names: readonly string[]) =>
    oneOf(
      part,
      names.filter((name) => only?.test(name) ?? true),
    );
  const [starts, aggregates, places] = [chosen(STARTS), chosen(AGGREGATES), chosen(PLACE_NAMES)];
  const kinds = chosen(NAME_KINDS);
  if (starts.length + aggregates.length + places.length + kinds.length === 0) throw new Error('Nothing of that name.');
  for (let round = 0; ; round++) {
    const randomOf = (name: string): Random => new Random(hash(`${seed} ${round} ${name}`));
    for (let at = 0; at < starts.length; at += BATCH) {
      if (findings.compared >= count) return;
      const expressions = starts.slice(at, at + BATCH).flatMap((start) => {
        const random = randomOf(start);
        return new Generator(random, ROWS).startingWith(start, random.int(3)) ?? [];
      });
      await scalar.check(expressions, ROWS, round % 2 === 0 ? 'union' : 'unnest');
      progress(findings.compared);
    }
    const queries = [
      ...aggregates.map((name) => aggregated(name, randomOf(name), ROWS)),
      ...places.map((place) => placed(place, randomOf(place), ROWS)),
      ...kinds.map((kind) => namesOf(kind, randomOf(kind))),
    ];
    for (const query of queries) {
      if (findings.compared >= count) return;
      if (query !== null) await checkQuery(engines, findings, query, ROWS);
      progress(findings.compared);
    }
  }
}

/** FNV-1a, of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
