import { Analyser } from '../analyser';
import { type CatalogueDefinition, type CatalogueTable, RegisteredCatalogue } from '../googlesql/catalogue';
import { type GoogleSqlEngine } from '../googlesql/engine';
import { type Cell } from '../googlesql/values';
import { fullName, type Table, type Warehouse } from '../warehouse/warehouse';
import { SUFFIX } from '../warehouse/wildcards';
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

  /** Works with an analyser for queries of `project` with that default data set. @param wildcards tables of the query alone */
  analyse<R>(
    project: string,
    standard: DefaultDataset | null,
    wildcards: readonly Table[],
    work: (analyser: Analyser) => Promise<R>,
  ): Promise<R> {
    const all = (): CatalogueDefinition => ({
      tables: [
        ...[...this.warehouse.tables(), ...wildcards].map((table) => entry(table, pathsOf(table, project, standard))),
        ...metadataTables(this.warehouse, project),
      ],
    });
    if (wildcards.length > 0) return once(Analyser.over(this.engine, all()), work);
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
    const lease = new Lease(this.warehouse.version, Analyser.over(this.engine, all()));
    this.analysers.set(key, lease);
    return lease.use(work);
  }

  /** Works with a catalogue in which every table stands with its rows under its full name alone. */
  evaluate<R>(wildcards: readonly Table[], work: (catalogue: RegisteredCatalogue) => Promise<R>): Promise<R> {
    if (wildcards.length > 0) return once(this.withRows(wildcards), work);
    if (this.rows?.version !== this.warehouse.version) {
      this.rows?.retire();
      this.rows = new Lease(this.warehouse.version, this.withRows([]));
    }
    return this.rows.use(work);
  }

  private withRows(wildcards: readonly Table[]): RegisteredCatalogue {
    const tables = [...this.warehouse.tables(), ...wildcards];
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
    return new RegisteredCatalogue(this.engine, definition);
  }
}

async function once<T extends { release(): Promise<void> }, R>(value: T, work: (value: T) => Promise<R>): Promise<R> {
  try {
    return await work(value);
  } finally {
    void value.release();
  }
}

function entry(table: Table, paths: readonly (readonly string[])[]): CatalogueTable {
  const lastIsPseudo = table.columns.at(-1) === SUFFIX;
  return { fullName: fullName(table), paths, columns: table.columns, lastIsPseudo };
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
