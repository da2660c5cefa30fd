import { type NamedType } from '../googlesql/types';
import { type Cell } from '../googlesql/values';
import { BadSchema, columnsOf, type TableField } from './schema';
import { sizeOf } from './size';

/** A table and its rows. Everything is kept in memory: the engine is a reference, for hundreds of rows. */
export interface Table {
  readonly project: string;
  readonly dataset: string;
  readonly id: string;
  readonly fields: readonly TableField[];
  readonly columns: readonly NamedType[];
  readonly rows: Cell[][];
  /** Bytes per column, as BigQuery counts them. */
  readonly bytes: number[];
  readonly created: number;
  /** What the creator said beside the schema: description, partitioning, clustering, labels. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Dataset {
  readonly project: string;
  readonly id: string;
  readonly created: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly tables: Map<string, Table>;
}

/** `project.dataset.table`, the name that the engine knows a table by. */
export function fullName(table: Pick<Table, 'project' | 'dataset' | 'id'>): string {
  return `${table.project}.${table.dataset}.${table.id}`;
}

/** The projects with their data sets and tables. Names are exact and case-sensitive, as BigQuery has them. */
export class Warehouse {
  private readonly datasets = new Map<string, Dataset>();
  private changes = 0;

  /** Grows with every change of a table or of its rows. */
  get version(): number {
    return this.changes;
  }

  dataset(project: string, id: string): Dataset | null {
    return this.datasets.get(`${project}.${id}`) ?? null;
  }

  datasetsOf(project: string): Dataset[] {
    return [...this.datasets.values()].filter((dataset) => dataset.project === project);
  }

  /** The new data set; null where there is one of that name. */
  createDataset(project: string, id: string, settings: Dataset['settings'] = {}): Dataset | null {
    if (this.dataset(project, id) !== null) return null;
    const dataset: Dataset = { project, id, created: Date.now(), settings, tables: new Map() };
    this.datasets.set(`${project}.${id}`, dataset);
    this.changes += 1;
    return dataset;
  }

  dropDataset(dataset: Dataset): void {
    this.datasets.delete(`${dataset.project}.${dataset.id}`);
    this.changes += 1;
  }

  /**
   * The new table; null where there is one of that name. Throws `BadSchema`, also for a name that differs from another's in
   * case alone: BigQuery keeps such tables apart, the engine cannot.
   */
  createTable(
    dataset: Dataset,
    id: string,
    fields: readonly TableField[],
    settings: Table['settings'] = {},
  ): Table | null {
    if (dataset.tables.has(id)) return null;
    for (const other of dataset.tables.keys())
      if (other.toLowerCase() === id.toLowerCase())
        throw new BadSchema(`The local BigQuery cannot tell ${id} from ${other}`);
    const columns = columnsOf(fields);
    const table: Table = {
      project: dataset.project,
      dataset: dataset.id,
      id,
      fields,
      columns,
      rows: [],
      bytes: columns.map(() => 0),
      created: Date.now(),
      settings,
    };
    dataset.tables.set(id, table);
    this.changes += 1;
    return table;
  }

  dropTable(table: Table): void {
    this.dataset(table.project, table.dataset)?.tables.delete(table.id);
    this.changes += 1;
  }

  addRows(table: Table, rows: readonly Cell[][]): void {
    for (const row of rows) {
      table.rows.push(row);
      table.columns.forEach((column, i) => {
        table.bytes[i] = (table.bytes[i] ?? 0) + sizeOf(column.type, row[i] ?? {});
      });
    }
    this.changes += 1;
  }

  /** Every table of every project. */
  *tables(): Iterable<Table> {
    for (const dataset of this.datasets.values()) yield* dataset.tables.values();
  }
}
