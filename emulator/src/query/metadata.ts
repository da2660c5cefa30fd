import { type CatalogueTable } from '../googlesql/catalogue';
import { typeText, type NamedType } from '../googlesql/types';
import { NULL, scalarCell, timestampCell, type Cell } from '../googlesql/values';
import { type Dataset, type Warehouse } from '../warehouse/warehouse';

/** The views of INFORMATION_SCHEMA that are there, each with its columns: enough to see that a query reads them. */
const VIEWS: Readonly<Record<string, readonly NamedType[]>> = {
  TABLES: [
    text('table_catalog'),
    text('table_schema'),
    text('table_name'),
    text('table_type'),
    { name: 'creation_time', type: { kind: 'TIMESTAMP' } },
  ],
  COLUMNS: [
    text('table_catalog'),
    text('table_schema'),
    text('table_name'),
    text('column_name'),
    { name: 'ordinal_position', type: { kind: 'INT64' } },
    text('is_nullable'),
    text('data_type'),
  ],
};

function text(name: string): NamedType {
  return { name, type: { kind: 'STRING' } };
}

/** INFORMATION_SCHEMA of every data set of a project. */
export function metadataTables(warehouse: Warehouse, project: string): CatalogueTable[] {
  return warehouse.datasetsOf(project).flatMap(({ id }) =>
    Object.entries(VIEWS).map(([view, columns]) => ({
      fullName: `${project}.${id}.INFORMATION_SCHEMA.${view}`,
      paths: [
        [id, 'INFORMATION_SCHEMA', view],
        [project, id, 'INFORMATION_SCHEMA', view],
        [`${project}.${id}`, 'INFORMATION_SCHEMA', view],
        [`${project}.${id}.INFORMATION_SCHEMA.${view}`],
        [`${id}.INFORMATION_SCHEMA.${view}`],
      ],
      columns,
    })),
  );
}

/** The rows of one of them, by its full name. */
export function metadataRows(warehouse: Warehouse, name: string): Cell[][] {
  const [project = '', dataset = '', , view = ''] = name.split('.');
  const found = warehouse.dataset(project, dataset);
  if (found === null) return [];
  return view === 'TABLES' ? tableRows(found) : columnRows(found);
}

const string = (value: string): Cell => scalarCell('STRING', value);

function tableRows(dataset: Dataset): Cell[][] {
  return [...dataset.tables.values()].map((table) => [
    string(table.project),
    string(table.dataset),
    string(table.id),
    string('BASE TABLE'),
    timestampCell(BigInt(table.created) * 1000n),
  ]);
}

function columnRows(dataset: Dataset): Cell[][] {
  return [...dataset.tables.values()].flatMap((table) =>
    table.columns.map((column, i) => [
      string(table.project),
      string(table.dataset),
      string(table.id),
      string(column.name),
      scalarCell('INT64', String(i + 1)),
      table.fields[i]?.mode === undefined ? NULL : string(table.fields[i].mode === 'REQUIRED' ? 'NO' : 'YES'),
      string(typeText(column.type)),
    ]),
  );
}
