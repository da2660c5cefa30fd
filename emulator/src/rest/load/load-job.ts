import { type StoredJob } from '../../jobs/store';
import { BigQueryError, invalid, notFound } from '../../query/error';
import { boolean, record, smallInteger, text } from '../read';
import { type Cell } from '../../googlesql/values';
import { BadRow, rowOf, withRequired } from '../../warehouse/ingest';
import { BadSchema, columnsOf, type TableField } from '../../warehouse/schema';
import { type Table, type Warehouse } from '../../warehouse/warehouse';
import { detectSchema } from './detect-schema';
import { sourceRows, type SourceRow } from './source-rows';

export interface LoadSpec {
  readonly id: string;
  readonly project: string;
  readonly location: string;
  /** `configuration` of the job. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** Rows of an upload on their way into a table. It has ended when it has been constructed: all or nothing goes in. */
export class LoadJob implements StoredJob {
  readonly created = Date.now();
  readonly ended = Date.now();
  readonly done = true;
  readonly cancelled = false;
  readonly listed = true;
  readonly size = 0;
  error: BigQueryError | null = null;
  /** Bytes of the upload. */
  readonly inputBytes: number;
  outputRows = 0;
  badRecords = 0;

  constructor(
    readonly spec: LoadSpec,
    warehouse: Warehouse,
    source: Buffer,
  ) {
    this.inputBytes = source.length;
    try {
      this.load(warehouse, source);
    } catch (error) {
      this.error =
        error instanceof BigQueryError
          ? error
          : new BigQueryError('internalError', `The load failed: ${String(error)}`);
    }
  }

  get id(): string {
    return this.spec.id;
  }

  get project(): string {
    return this.spec.project;
  }

  get location(): string {
    return this.spec.location;
  }

  cancel(): void {
    // It has ended.
  }

  private load(warehouse: Warehouse, source: Buffer): void {
    const load = record(this.spec.configuration['load']);
    const { project, dataset, id } = this.destination(load);
    const found = warehouse.dataset(project, dataset);
    if (found === null) throw notFound(`Dataset ${project}:${dataset}`);
    const before = found.tables.get(id) ?? null;
    const disposition = text(load['writeDisposition']) ?? 'WRITE_APPEND';
    if (disposition === 'WRITE_EMPTY' && before !== null && before.rows.length > 0)
      throw new BigQueryError('duplicate', `Already Exists: Table ${project}:${dataset}.${id}`);
    if (before === null && text(load['createDisposition']) === 'CREATE_NEVER')
      throw notFound(`Table ${project}:${dataset}.${id}`);

    const given = record(load['schema'])['fields'] as TableField[] | undefined;
    const truncate = disposition === 'WRITE_TRUNCATE';
    const known = given ?? (truncate && boolean(load['autodetect']) ? undefined : before?.fields);
    const rows = sourceRows(source, load, known?.map(({ name }) => name) ?? null);
    const fields = known ?? this.detected(load, rows);
    const table = before === null || truncate ? draft(id, fields) : before;
    const cells = this.cellsOf(table, rows, load);
    if (truncate && before !== null) warehouse.dropTable(before);
    const target = before === null || truncate ? warehouse.createTable(found, id, fields) : before;
    if (target === null) throw new BigQueryError('duplicate', `Already Exists: Table ${project}:${dataset}.${id}`);
    warehouse.addRows(target, cells);
    this.outputRows = cells.length;
  }

  private destination(load: Readonly<Record<string, unknown>>): { project: string; dataset: string; id: string } {
    const table = record(load['destinationTable']);
    const dataset = text(table['datasetId']);
    const id = text(table['tableId']);
    if (dataset === null || id === null) throw invalid('Required parameter is missing: destinationTable');
    return { project: text(table['projectId']) ?? this.spec.project, dataset, id };
  }

  private detected(load: Readonly<Record<string, unknown>>, rows: readonly SourceRow[]): TableField[] {
    if (!boolean(load['autodetect'])) throw invalid('No schema specified on job or table.');
    return detectSchema(rows.filter((row): row is Readonly<Record<string, unknown>> => !(row instanceof Error)));
  }

  private cellsOf(
    table: Pick<Table, 'columns' | 'fields'>,
    rows: readonly SourceRow[],
    load: Readonly<Record<string, unknown>>,
  ): Cell[][] {
    const ignoreUnknown = boolean(load['ignoreUnknownValues']);
    const most = smallInteger(load['maxBadRecords'], 'maxBadRecords') ?? 0;
    const cells: Cell[][] = [];
    for (const row of rows) {
      try {
        if (row instanceof Error) throw row;
        cells.push(withRequired(table.fields, rowOf(table.columns, row, { ignoreUnknown })));
      } catch (error) {
        if (!(error instanceof BadRow) && error !== row) throw error;
        this.badRecords += 1;
        const message = (error as Error).message;
        if (this.badRecords > most) throw invalid(`Error while reading data, error message: ${message}`);
      }
    }
    return cells;
  }
}

/** The columns of a table that is not made before its rows are known to fit. */
function draft(id: string, fields: readonly TableField[]): Pick<Table, 'columns' | 'fields'> {
  if (!/^[\p{L}\p{N}\p{M}_ -]{1,1024}$/u.test(id)) throw invalid(`Invalid table ID "${id}"`);
  try {
    return { fields, columns: columnsOf(fields) };
  } catch (error) {
    if (error instanceof BadSchema) throw invalid(error.message);
    throw error;
  }
}
