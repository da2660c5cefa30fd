/** A stored query has a form that no guard column can be added to. */
export class Unfenceable extends Error {
  override readonly name = 'Unfenceable';

  /** @param construct what it is, to follow "it has" */
  constructor(readonly construct: string) {
    super(`It has ${construct}.`);
  }
}
