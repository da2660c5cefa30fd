import type { StoredTable } from './part';
import { NamedTables } from './named-tables';

/** The tables at one moment. The relations of their parts remain until it is released. */
export interface TableSnapshot {
  readonly tables: readonly StoredTable[];
  /** By exact name, or the one that a wildcard makes of several. */
  find(name: string): StoredTable | undefined;
  /** Whether the database that had them has been closed: what their parts name is not in the next one. */
  readonly isLost: boolean;
  release(): void;
}

/** One state of the tables, and who reads it. */
interface State {
  readonly tables: ReadonlyMap<string, StoredTable>;
  readonly byName: NamedTables;
  readers: number;
  lost: boolean;
  /** Called when it is neither the current one nor read any more. */
  retire: () => void;
}

/** What queries read, which may be replaced while they run. */
export class StoredTables {
  #current: State;
  /** No query reads a state before the current one. */
  #retired: Promise<void> = Promise.resolve();

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
      find: (name) => state.byName.find(name),
      get isLost() {
        return state.lost;
      },
      release: () => {
        if (held && --state.readers === 0 && state !== this.#current) state.retire();
        held = false;
      },
    };
  }

  get tables(): ReadonlyMap<string, StoredTable> {
    return this.#current.tables;
  }

  /** The database that has the tables is closed. */
  lose(): void {
    this.#current.lost = true;
  }

  /** Later queries read `tables`. Resolves when no query reads any state before. */
  replace(tables: readonly StoredTable[]): Promise<void> {
    const before = this.#current;
    this.#current = stateOf(tables);
    const ended = before.readers === 0 ? null : new Promise<void>((resolve) => (before.retire = resolve));
    this.#retired = this.#retired.then(() => ended ?? undefined);
    return this.#retired;
  }
}

function stateOf(tables: readonly StoredTable[]): State {
  const byName = new Map(tables.map((table) => [table.schema.name, table]));
  return {
    tables: byName,
    byName: new NamedTables(byName),
    readers: 0,
    lost: false,
    retire: () => undefined,
  };
}
