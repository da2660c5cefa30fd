import { BigQueryError, invalid, notFound } from '../query/error';
import { BadSchema, type TableField } from '../warehouse/schema';
import { type Dataset, type Table, type Warehouse } from '../warehouse/warehouse';
import { record, text } from './read';
import { ok, type ApiReply, type ApiRequest } from './routes';

/** GET /projects */
export function listProjects(project: string): ApiReply {
  const entry = {
    kind: 'bigquery#project',
    id: project,
    friendlyName: project,
    projectReference: { projectId: project },
  };
  return ok({ kind: 'bigquery#projectList', projects: [entry], totalItems: 1 });
}

export function findDataset(warehouse: Warehouse, path: ApiRequest['path']): Dataset {
  const dataset = warehouse.dataset(path['project'] ?? '', path['dataset'] ?? '');
  if (dataset === null) throw notFound(`Dataset ${path['project']}:${path['dataset']}`);
  return dataset;
}

export function findTable(warehouse: Warehouse, path: ApiRequest['path']): Table {
  const table = findDataset(warehouse, path).tables.get(path['table'] ?? '');
  if (table === undefined) throw notFound(`Table ${path['project']}:${path['dataset']}.${path['table']}`);
  return table;
}

export function listDatasets(warehouse: Warehouse, { path }: ApiRequest): ApiReply {
  const datasets = warehouse.datasetsOf(path['project'] ?? '').map(datasetResource);
  return ok({ kind: 'bigquery#datasetList', ...(datasets.length === 0 ? {} : { datasets }) });
}

export function getDataset(warehouse: Warehouse, { path }: ApiRequest): ApiReply {
  return ok(datasetResource(findDataset(warehouse, path)));
}

export function insertDataset(warehouse: Warehouse, { path, body }: ApiRequest): ApiReply {
  const project = path['project'] ?? '';
  const { datasetReference, ...settings } = body;
  const id = text(record(datasetReference)['datasetId']);
  if (id === null || !/^\w{1,1024}$/.test(id)) throw invalid(`Invalid dataset ID "${id ?? ''}"`);
  const dataset = warehouse.createDataset(project, id, settings);
  if (dataset === null) throw new BigQueryError('duplicate', `Already Exists: Dataset ${project}:${id}`);
  return ok(datasetResource(dataset));
}

export function deleteDataset(warehouse: Warehouse, { path, query }: ApiRequest): ApiReply {
  const dataset = findDataset(warehouse, path);
  if (dataset.tables.size > 0 && query.get('deleteContents') !== 'true')
    throw new BigQueryError('resourceInUse', `Dataset ${dataset.project}:${dataset.id} is still in use`);
  warehouse.dropDataset(dataset);
  return { status: 204, json: null };
}

export function listTables(warehouse: Warehouse, { path }: ApiRequest): ApiReply {
  const tables = [...findDataset(warehouse, path).tables.values()].map((table) => {
    const { kind, id, tableReference, type, creationTime } = tableResource(table);
    return { kind, id, tableReference, type, creationTime };
  });
  return ok({ kind: 'bigquery#tableList', ...(tables.length === 0 ? {} : { tables }), totalItems: tables.length });
}

export function getTable(warehouse: Warehouse, { path }: ApiRequest): ApiReply {
  return ok(tableResource(findTable(warehouse, path)));
}

export function insertTable(warehouse: Warehouse, { path, body }: ApiRequest): ApiReply {
  const dataset = findDataset(warehouse, path);
  const { tableReference, schema, ...settings } = body;
  if (settings['view'] !== undefined) throw new BigQueryError('notImplemented', 'The local BigQuery has no views');
  const id = text(record(tableReference)['tableId']);
  if (id === null || !/^[\p{L}\p{N}\p{M}_ -]{1,1024}$/u.test(id)) throw invalid(`Invalid table ID "${id ?? ''}"`);
  try {
    const table = warehouse.createTable(dataset, id, (record(schema)['fields'] ?? []) as TableField[], settings);
    if (table !== null) return ok(tableResource(table));
  } catch (error) {
    if (error instanceof BadSchema) throw invalid(error.message);
    throw error;
  }
  throw new BigQueryError('duplicate', `Already Exists: Table ${dataset.project}:${dataset.id}.${id}`);
}

export function deleteTable(warehouse: Warehouse, { path }: ApiRequest): ApiReply {
  warehouse.dropTable(findTable(warehouse, path));
  return { status: 204, json: null };
}

function datasetResource(dataset: Dataset): Record<string, unknown> {
  return {
    location: 'US',
    ...dataset.settings,
    kind: 'bigquery#dataset',
    etag: 'local',
    id: `${dataset.project}:${dataset.id}`,
    datasetReference: { projectId: dataset.project, datasetId: dataset.id },
    creationTime: String(dataset.created),
    lastModifiedTime: String(dataset.created),
  };
}

function tableResource(table: Table): Record<string, unknown> {
  return {
    location: 'US',
    ...table.settings,
    kind: 'bigquery#table',
    etag: 'local',
    id: `${table.project}:${table.dataset}.${table.id}`,
    tableReference: { projectId: table.project, datasetId: table.dataset, tableId: table.id },
    type: 'TABLE',
    schema: { fields: table.fields },
    numRows: String(table.rows.length),
    numBytes: String(table.bytes.reduce((sum, bytes) => sum + bytes, 0)),
    creationTime: String(table.created),
    lastModifiedTime: String(table.created),
  };
}
