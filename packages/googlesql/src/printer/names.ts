/** Types in GoogleSQL's spelling, names of fields in backticks. */
import type { SqlType, TypeParameters } from '../types';
import { quotedName } from '../escapes';

export function typeSql(names: Names, type: SqlType, parameters: TypeParameters | null = null): string {
  switch (type.kind) {
    case 'ARRAY':
    case 'RANGE':
      return `${type.kind}<${typeSql(names, type.element, parameters?.inner[0])}>`;
    case 'STRUCT': {
      const fields = type.fields.map(
        ({ name, type: field }, i) =>
          (name === null ? '' : `${names.quoted(name)} `) + typeSql(names, field, parameters?.inner[i]),
      );
      return `STRUCT<${fields.join(', ')}>`;
    }
    default:
      return parameters === null ? type.kind : `${type.kind}(${parameters.own.join(', ')})`;
  }
}

/** Names in printed SQL: the printer's own, which begin with a prefix, and names of the query in backticks. */
export class Names {
  #next = 1;
  readonly #foreign = new Set<string>();

  constructor(readonly prefix: string) {}

  /** The same for the same column, wherever it is selected. */
  column(id: number): string {
    return `${this.prefix}c${id}`;
  }

  cte(id: number): string {
    return `${this.prefix}q${id}`;
  }

  /** A name that nothing has yet. */
  fresh(letter: string): string {
    return `${this.prefix}${letter}${this.#next++}`;
  }

  /** The guard column of a subquery or CTE. */
  get guard(): string {
    return `${this.prefix}g`;
  }

  /** A name of the query or its tables, in backticks. */
  quoted(name: string): string {
    this.seen(name);
    return quotedName(name);
  }

  /** A name that printed SQL brings into scope without spelling it: a column of a table, a field of an array's element. */
  seen(name: string): void {
    this.#foreign.add(name.toLowerCase());
  }

  /** A prefix that none of the names seen begins with. */
  freePrefix(): string {
    const isFree = (prefix: string): boolean => ![...this.#foreign].some((name) => name.startsWith(prefix));
    if (isFree(this.prefix)) return this.prefix;
    const taken = new Set([...this.#foreign].map((name) => /^lq(\d+)_/.exec(name)?.[1]));
    for (let i = 1; ; i++) if (!taken.has(String(i))) return `lq${i}_`;
  }
}

/** What the printer's names begin with, unless the query has such names itself. */
export const PREFIX = 'lq_';
