import { nearest } from '../googlesql/resolver';
import { RESERVED, SOFT_RESERVED } from './declaration';
import type { Endpoint } from './endpoint';
import type { RawEntry } from './raw-entry';

export interface UnknownParameter {
  readonly name: string;
  /** The parameter that was probably meant. */
  readonly near: string | undefined;
}

/** Names that are reported, and compared, at most. */
const MOST = 10;

/** Parameters of a request that mean nothing to the endpoint, each name once. */
export function unknownParameters(
  { parameters }: Pick<Endpoint, 'parameters'>,
  given: readonly RawEntry[],
): readonly UnknownParameter[] {
  const declared = parameters.map(({ name }) => name);
  const known = new Set<string>([...declared, ...RESERVED, ...SOFT_RESERVED]);
  const unknown = new Set(given.map(({ name }) => name).filter((name) => !known.has(name)));
  return Array.from(unknown)
    .slice(0, MOST)
    .map((name) => ({ name, near: nearest(name, [...declared, ...RESERVED]) }));
}
