import { OTHER } from './table';

/** Names of one kind that are labels of their own; a process that outlives many renames does not grow with them. */
const MOST_NAMES = 200;

/** Gives names of the operator's a label each, until there are too many; those that come later share one. */
export class NameBound {
  readonly #known = new Set<string>();

  constructor(private readonly most = MOST_NAMES) {}

  label(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.most) return OTHER;
    this.#known.add(name);
    return name;
  }
}
