import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type SourceTable, startLocalBigQuery } from './local-bigquery';
import { SHAPES, type ShapeName } from './rest/shape';

const USAGE = `npm run emulator -- [options]
  --port 9050            where to listen; 0 takes a free port
  --host 127.0.0.1       the address to listen on
  --project test         the project of the data set
  --dataset logs         the data set of the log tables
  --location US          where the project is
  --data DIR             schema.json and <table>.ndjson[.gz] to load (default: generated sample rows)
  --clock INSTANT        what queries take for the present, ISO 8601 (default: the present)
  --shape bigquery       whose habits to answer with: ${SHAPES.join(', ')}
  --ignore-default-dataset
  --eager                evaluate what queries compute before the filters below it (README, Order of evaluation)
  --tied                 end when standard input does: no process outlives the test that started it
`;

const OPTIONS = {
  options: {
    port: { type: 'string', default: '9050' },
    host: { type: 'string', default: '127.0.0.1' },
    project: { type: 'string', default: 'test' },
    dataset: { type: 'string', default: 'logs' },
    location: { type: 'string', default: 'US' },
    data: { type: 'string' },
    clock: { type: 'string' },
    shape: { type: 'string', default: 'bigquery' },
    'ignore-default-dataset': { type: 'boolean', default: false },
    eager: { type: 'boolean', default: false },
    tied: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
} as const;

function readOptions() {
  try {
    return parseArgs(OPTIONS).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

/** Starts the local BigQuery from a command line and prints where it listens. */
async function main(): Promise<void> {
  const values = readOptions();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const shape = SHAPES.find((name): name is ShapeName => name === values.shape);
  if (shape === undefined) throw new Error(`--shape takes ${SHAPES.join(', ')}`);
  if (!/^\d{1,5}$/.test(values.port)) throw new Error('--port takes a number');
  const clock = values.clock ?? null;
  const local = await startLocalBigQuery({
    port: Number(values.port),
    host: values.host,
    project: values.project,
    dataset: values.dataset,
    location: values.location,
    tables: await sources(values.data, clock),
    clock,
    shape,
    ignoreDefaultDataset: values['ignore-default-dataset'],
    eager: values.eager,
  });
  process.stdout.write(
    `Local BigQuery on http://${values.host}:${local.port} (project ${values.project}, data set ${values.dataset})\n`,
  );
  const stop = () => void local.close().then(() => process.exit(0));
  if (values.tied) process.stdin.resume().once('close', stop);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/** The tables of a folder, or made-up ones up to the clock's instant. */
async function sources(folder: string | undefined, clock: string | null): Promise<SourceTable[]> {
  if (folder === undefined) {
    const { sampleTables } = await import('../sample/rows.mjs');
    return sampleTables(clock === null ? new Date() : new Date(clock));
  }
  const { readFolder } = await import('../sample/folder.mjs');
  // npm changes the working directory; INIT_CWD is where the caller stood.
  return readFolder(resolve(process.env['INIT_CWD'] ?? '.', folder));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
