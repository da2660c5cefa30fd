import { Analyser } from '../analyser';
import { type CatalogueTable, RegisteredCatalogue } from '../googlesql/catalogue';
import { type GoogleSqlEngine } from '../googlesql/engine';
import { type Cell } from '../googlesql/values';
import { fullName, type Table, type Warehouse } from '../warehouse/warehouse';
import { metadataTables, metadataRows } from './metadata';

/** The data set whose tables a query may name by one part. */
export interface DefaultDataset {
  readonly project: string;
  readonly dataset: string;
}

const CACHED_ANALYSERS = 16;

/** A thing of the engine that is released once it is out of date and nobody uses it any more. */
class Lease<T extends { release(): Promise<void> }> {
  private users = 0;
  private retired = false;

  constructor(
    readonly version: number,
    readonly value: T,
  ) {}

  async use<R>(work: (value: T) => Promise<R>): Promise<R> {
    this.users += 1;
    try {
      return await work(this.value);
    } finally {
      this.users -= 1;
      this.endIfUnused();
    }
  }

  retire(): void {
    this.retired = true;
    this.endIfUnused();
  }

  private endIfUnused(): void {
    if (this.retired && this.users === 0) void this.value.release();
  }
}

/** The warehouse as the engine sees it: rebuilt when a table or a row has changed since. */
export class Catalogues {
  private readonly analysers = new Map<string, Lease<Analyser>>();
  private rows: Lease<RegisteredCatalogue> | null = null;

  constructor(
    private readonly engine: GoogleSqlEngine,
    private readonly warehouse: Warehouse,
  ) {}

  /** Works with an analyser for queries of `project` with that default data set. */
  analyse<R>(project: string, standard: DefaultDataset | null, work: (analyser: Analyser) => Promise<R>): Promise<R> {
    const key = JSON.stringify([project, standard]);
    const known = this.analysers.get(key);
    if (known?.version === this.warehouse.version) return known.use(work);
    known?.retire();
    this.analysers.delete(key);
    const [oldest] = this.analysers;
    if (oldest !== undefined && this.analysers.size >= CACHED_ANALYSERS) {
      oldest[1].retire();
      this.analysers.delete(oldest[0]);
    }
    const tables = [...this.warehouse.tables()].map((table) => entry(table, pathsOf(table, project, standard)));
    const definition = { tables: [...tables, ...metadataTables(this.warehouse, project)] };
    const lease = new Lease(this.warehouse.version, Analyser.over(this.engine, definition));
    this.analysers.set(key, lease);
    return lease.use(work);
  }

  /** Works with a catalogue in which every table stands with its rows under its full name alone. */
  evaluate<R>(work: (catalogue: RegisteredCatalogue) => Promise<R>): Promise<R> {
    if (this.rows?.version !== this.warehouse.version) {
      this.rows?.retire();
      const tables = [...this.warehouse.tables()];
      const rows = new Map<string, readonly (readonly Cell[])[]>(tables.map((table) => [fullName(table), table.rows]));
      const projects = new Set(tables.map((table) => table.project));
      const metadata = [...projects].flatMap((project) => metadataTables(this.warehouse, project));
      for (const table of metadata) rows.set(table.fullName, metadataRows(this.warehouse, table.fullName));
      const definition = {
        tables: [
          ...tables.map((table) => entry(table, [[fullName(table)]])),
          ...metadata.map((table) => ({ ...table, paths: [[table.fullName]] })),
        ],
        rows,
      };
      this.rows = new Lease(this.warehouse.version, new RegisteredCatalogue(this.engine, definition));
    }
    return this.rows.use(work);
  }
}

function entry(table: Table, paths: readonly (readonly string[])[]): CatalogueTable {
  return { fullName: fullName(table), paths, columns: table.columns };
}

/** Every way to write a table's path, back-quoted parts of it taken together included. */
function pathsOf({ project, dataset, id }: Table, home: string, standard: DefaultDataset | null): string[][] {
  const paths = [
    [project, dataset, id],
    [`${project}.${dataset}`, id],
    [project, `${dataset}.${id}`],
    [`${project}.${dataset}.${id}`],
  ];
  if (project === home) paths.push([dataset, id], [`${dataset}.${id}`]);
  if (project === standard?.project && dataset === standard.dataset) paths.push([id]);
  return paths;
}
