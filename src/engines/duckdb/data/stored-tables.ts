import type { StoredTable } from './part';

/** The tables at one moment. The relations of their parts remain until it is released. */
export interface TableSnapshot {
  readonly tables: readonly StoredTable[];
  /** By exact name. */
  find(name: string): StoredTable | undefined;
  release(): void;
}

/** One state of the tables, and who reads it. */
interface State {
  readonly tables: ReadonlyMap<string, StoredTable>;
  readers: number;
  /** Called when it is neither the current one nor read any more. */
  retire: () => void;
}

/** What queries read, which may be replaced while they run. */
export class StoredTables {
  #current: State;

  constructor(tables: readonly StoredTable[]) {
    this.#current = stateOf(tables);
  }

  /** The current tables, for one query, which releases them when it has ended. */
  acquire(): TableSnapshot {
    const state = this.#current;
    state.readers++;
    let held = true;
    return {
      tables: [...state.tables.values()],
      find: (name) => state.tables.get(name),
      release: () => {
        if (held && --state.readers === 0 && state !== this.#current) state.retire();
        held = false;
      },
    };
  }

  get tables(): ReadonlyMap<string, StoredTable> {
    return this.#current.tables;
  }

  /** Later queries read `tables`. Resolves when no query reads those before any more. */
  replace(tables: readonly StoredTable[]): Promise<void> {
    const before = this.#current;
    this.#current = stateOf(tables);
    if (before.readers === 0) return Promise.resolve();
    return new Promise((resolve) => (before.retire = resolve));
  }
}

function stateOf(tables: readonly StoredTable[]): State {
  return { tables: new Map(tables.map((table) => [table.schema.name, table])), readers: 0, retire: () => undefined };
}
