// @ts-check
/**
 * Creates the log tables in any BigQuery that `BIGQUERY_EMULATOR_HOST` names and inserts rows, through the REST API alone.
 * Needs nothing but Node. A table that holds rows already is left as it is, so that it can run again.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readFolder } from './folder.mjs';
import { sampleTables } from './rows.mjs';

/** @typedef {import('./folder.mjs').SourceTable} SourceTable */
/** @typedef {{ base: string, dataset: string }} Target */

/** Rows of one request: goccy's emulator keeps each request as a job, and takes long over large ones. */
const BATCH = 100;

const USAGE = `npm run emulator:load -- [options]
  --host HOST:PORT   default: BIGQUERY_EMULATOR_HOST, or 127.0.0.1:9050
  --project ID       default: BIGQUERY_PROJECT_ID, or test
  --dataset NAME     default: BIGQUERY_DATASET, or logs
  --data DIR         schema.json and <table>.ndjson[.gz] (default: made-up sample rows)
  --clock INSTANT    the instant at which sample rows end (default: CLOCK, or the present)
  --wait SECONDS     how long to wait until somebody answers (default: 60)
`;

const OPTIONS = /** @type {const} */ ({
  options: {
    help: { type: 'boolean', default: false },
    host: { type: 'string', default: process.env['BIGQUERY_EMULATOR_HOST'] || '127.0.0.1:9050' },
    project: { type: 'string', default: process.env['BIGQUERY_PROJECT_ID'] || 'test' },
    dataset: { type: 'string', default: process.env['BIGQUERY_DATASET'] || 'logs' },
    data: { type: 'string' },
    clock: { type: 'string', default: process.env['CLOCK'] || undefined },
    wait: { type: 'string', default: '60' },
  },
});

function readOptions() {
  try {
    return parseArgs(OPTIONS).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

const values = readOptions();

/** One line that is written anew, on a terminal alone. @param {string} text empty: it goes */
function status(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/**
 * Sends a request; resolves with status and JSON.
 * @param {string} url @param {unknown} [body]
 * @returns {Promise<{ status: number, json: { numRows?: string, insertErrors?: unknown } | null }>}
 */
async function send(url, body) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(
    url,
    body === undefined ? {} : { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } },
  );
  const answer = await response.text();
  return { status: response.status, json: answer === '' ? null : JSON.parse(answer) };
}

/** Waits until somebody answers. @param {string} url @param {number} seconds */
async function answering(url, seconds) {
  for (const end = Date.now() + seconds * 1000; ;) {
    try {
      if ((await send(url)).status === 200) return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    if (Date.now() > end) throw new Error(`${url} does not answer`);
    await new Promise((done) => setTimeout(done, 500));
  }
}

/** @param {Target} target @param {SourceTable} table @returns {Promise<number>} rows inserted */
async function loadTable({ base, dataset }, { id, fields, lines }) {
  const tables = `${base}/datasets/${dataset}/tables`;
  const tableReference = { projectId: values.project, datasetId: dataset, tableId: id };
  const created = await send(tables, { tableReference, schema: { fields } });
  if (created.status !== 200 && created.status !== 409)
    throw new Error(`Creating ${id}: ${JSON.stringify(created.json)}`);
  if (created.status === 409) {
    const known = await send(`${tables}/${id}`);
    if (Number(known.json?.numRows ?? 0) > 0) return 0;
  }
  for (let start = 0; start < lines.length; start += BATCH) {
    // The row's own text goes into the request: numbers of 64 bits pass through no double.
    const percent = Math.floor((start / lines.length) * 100);
    status(`Inserting into ${id}: ${start} of ${lines.length} rows (${percent} %)`);
    const rows = lines.slice(start, start + BATCH).map((line, i) => `{"insertId":"${id}-${start + i}","json":${line}}`);
    const answer = await send(`${tables}/${id}/insertAll`, `{"rows":[${rows.join(',')}]}`);
    if (answer.status !== 200 || answer.json?.insertErrors !== undefined)
      throw new Error(`Inserting into ${id}: ${JSON.stringify(answer.json).slice(0, 2000)}`);
  }
  status('');
  return lines.length;
}

async function main() {
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const host = /^https?:\/\//.test(values.host) ? values.host : `http://${values.host}`;
  const base = `${host.replace(/\/$/, '')}/bigquery/v2/projects/${values.project}`;
  const target = { base, dataset: values.dataset };
  const sources =
    values.data === undefined
      ? sampleTables(values.clock === undefined ? new Date() : new Date(values.clock))
      : readFolder(resolve(process.env['INIT_CWD'] ?? '.', values.data));
  await answering(`${base}/datasets`, Number(values.wait));
  const dataset = await send(`${base}/datasets`, {
    datasetReference: { projectId: values.project, datasetId: values.dataset },
  });
  if (dataset.status !== 200 && dataset.status !== 409)
    throw new Error(`Creating the data set: ${JSON.stringify(dataset.json)}`);
  for (const table of sources) {
    const rows = await loadTable(target, table);
    process.stdout.write(`${values.dataset}.${table.id}: ${rows} rows inserted\n`);
  }
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
