const { readdirSync } = require('node:fs');
const path = require('node:path');

/**
 * Which file may import which: rooms from top to bottom, each importing from itself and from rooms below it
 * (docs/architecture.md). Checked by `npm run lint`, on static and dynamic imports alike.
 */
const ROOMS = [
  'cli',
  'main',
  'app',
  'explorer',
  'http',
  'mcp',
  'openapi',
  'run',
  'analysis',
  'completion',
  'endpoints',
  'sandbox',
  'lql',
  'cache',
  'collector',
  'keys',
  'redaction',
  'rendering',
  'limits',
  'redis',
  'metrics',
  'tracing',
  'telemetry',
  'engines',
  'googlesql',
  'config',
  'log',
  'concurrency',
  'files',
  'json',
  'health',
  'errors',
  'time',
];

/** Rooms that share one place in the order of ROOMS with a file of another name. */
const FILES = { config: '(config|settings-file)\\.ts$' };
const pathOf = (room) => FILES[room] ?? `(${room}\\.ts$|${room}/)`;

const downwards = ROOMS.slice(1).map((room, i) => ({
  name: `${room} imports downwards`,
  comment: 'A room imports from rooms below it alone: the rooms, from top to bottom, are in .dependency-cruiser.cjs.',
  severity: 'error',
  from: { path: `^src/${pathOf(room)}` },
  to: {
    path: `^src/(${ROOMS.slice(0, i + 1)
      .map(pathOf)
      .join('|')})`,
  },
}));

/**
 * What reads a text and needs nothing of Node: bundled into the explorer, whose build fails where it does not hold. Imported
 * by file, as an index.ts brings all of its room.
 */
const READING = [
  ...['errors\\.ts$', 'googlesql/', 'lql/', 'completion/(?!complete-task)', 'analysis/consumer-query\\.ts$'],
  'engines/bound-parameter\\.ts$',
  'log/visible\\.ts$',
  'sandbox/(policy|statement|functions|lenient)\\.ts$',
].join('|');

/** Folders with an index.ts. */
const faces = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'index.ts')
  .map((file) => `src/${path.dirname(file)}`)
  .map((folder) => ({
    name: `${folder} is imported by its index.ts`,
    comment: 'Export it there; what is needed on some starts only may be loaded with import().',
    severity: 'error',
    from: { path: '^src/', pathNot: `^${folder}/` },
    to: {
      path: `^${folder}/(?!index\\.ts$)`,
      ...(folder === 'src/sandbox' ? { pathNot: `^src/(${READING})` } : {}),
      dependencyTypesNot: ['dynamic-import'],
    },
  }));

/** Grammars and trees: one function for each production, each of which calls the others. */
const RECURSIVE = '^src/(googlesql/(parser|resolver|printer)|engines/duckdb/translate|lql)/';

module.exports = {
  forbidden: [
    ...downwards,
    {
      name: 'engines know nothing of each other',
      severity: 'error',
      from: { path: '^src/engines/(duckdb|bigquery)/' },
      to: { path: '^src/engines/(duckdb|bigquery)/', pathNot: '^src/engines/$1/' },
    },
    {
      name: 'what engines share knows none of them',
      severity: 'error',
      from: { path: '^src/engines/[^/]+\\.ts$' },
      to: { path: '^src/engines/(duckdb|bigquery)/' },
    },
    {
      name: 'the explorer imports what bundles for a browser alone',
      comment: 'Of the server: one reading of SQL and LQL, what a consumer may name, and what is known of a text.',
      severity: 'error',
      from: { path: '^src/explorer/' },
      to: { path: `^src/(?!explorer/|${READING})` },
    },
    {
      name: 'what the explorer bundles needs nothing of Node',
      severity: 'error',
      from: { path: `^src/(${READING})` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'the server imports nothing of the page',
      severity: 'error',
      from: { path: '^src/(?!explorer/)' },
      to: { path: '^src/explorer/' },
    },
    ...faces,
    {
      name: 'no circles',
      severity: 'error',
      from: { path: '^src/', pathNot: RECURSIVE },
      to: { circular: true },
    },
    { name: 'every import is found', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'the product needs no development packages',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/explorer/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src imports nothing outside',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|emulator)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
