import { type JobStore } from '../jobs/store';
import { type QueryRunner } from '../query/runner';
import { type Warehouse } from '../warehouse/warehouse';
import { type Clock } from '../clock';
import { type Faults } from './faults';
import { cancelJob, deleteJob, getJob, insertJob, listJobs } from './jobs';
import { Uploads } from './load/uploads';
import { type RequestLog } from './log';
import { getResults, postQuery, type QueryContext } from './queries';
import { insertAll, listRows } from './rows';
import { ok, Routes } from './routes';
import { type Shape } from './shape';
import * as tables from './tables';

/** Everything that a request may need. */
export interface Context {
  readonly project: string;
  readonly location: string;
  readonly runner: QueryRunner;
  readonly warehouse: Warehouse;
  readonly jobs: JobStore;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly shape: Shape;
  readonly clock: Clock;
}

/** What of BigQuery's API is there. */
export function apiRoutes(context: Context): Routes {
  const { warehouse, shape } = context;
  const query: QueryContext = { ...context, jobFault: () => context.faults.forJob() };
  const routes = new Routes();
  const project = '/projects/:project';
  routes.add('query', 'POST', `${project}/queries`, (r) => postQuery(query, r));
  routes.add('results', 'GET', `${project}/queries/:job`, (r) => getResults(query, r));
  routes.add('insertJob', 'POST', `${project}/jobs`, (r) => insertJob(query, r));
  routes.add('listJobs', 'GET', `${project}/jobs`, (r) => listJobs(query, r));
  routes.add('getJob', 'GET', `${project}/jobs/:job`, (r) => getJob(query, r));
  routes.add('cancel', 'POST', `${project}/jobs/:job/cancel`, (r) => cancelJob(query, r));
  routes.add('deleteJob', 'DELETE', `${project}/jobs/:job/delete`, (r) => deleteJob(query, r));

  const uploads = new Uploads(query, warehouse);
  for (const path of [`/upload${project}/jobs`, `/upload/bigquery/v2${project}/jobs`]) {
    routes.add('upload', 'POST', path, (r) => uploads.begin(r));
    routes.add('upload', 'PUT', path, (r) => uploads.resume(r));
  }

  routes.add('other', 'GET', '/projects', () => tables.listProjects(context.project));
  routes.add('datasets', 'GET', `${project}/datasets`, (r) => tables.listDatasets(warehouse, r));
  routes.add('datasets', 'POST', `${project}/datasets`, (r) => tables.insertDataset(warehouse, r));
  const dataset = `${project}/datasets/:dataset`;
  routes.add('datasets', 'GET', dataset, (r) => tables.getDataset(warehouse, r));
  routes.add('datasets', 'DELETE', dataset, (r) => tables.deleteDataset(warehouse, r));
  routes.add('tables', 'GET', `${dataset}/tables`, (r) => tables.listTables(warehouse, r));
  routes.add('tables', 'POST', `${dataset}/tables`, (r) => tables.insertTable(warehouse, r));
  for (const kind of ['routines', 'models']) routes.add('other', 'GET', `${dataset}/${kind}`, () => ok({}));
  const table = `${dataset}/tables/:table`;
  routes.add('tables', 'GET', table, (r) => tables.getTable(warehouse, r));
  routes.add('tables', 'DELETE', table, (r) => tables.deleteTable(warehouse, r));
  routes.add('insertAll', 'POST', `${table}/insertAll`, (r) => insertAll(warehouse, r));
  routes.add('listRows', 'GET', `${table}/data`, (r) => listRows(warehouse, shape, r));
  return routes;
}
