const { readdirSync } = require('node:fs');

/**
 * Which file may import which. Packages import each other through their faces alone, downwards; in `src/` rooms do, from top to bottom, each
 * importing from itself and from rooms below it (docs/architecture.md). Checked by `npm run lint`, on static and dynamic imports alike.
 */
const ROOMS = [
  'cli',
  'main',
  'app',
  'http',
  'mcp',
  'openapi',
  'run',
  'analysis',
  'endpoints',
  'sandbox',
  'cache',
  'keys',
  'redaction',
  'rendering',
  'limits',
  'redis',
  'metrics',
  'tracing',
  'telemetry',
  'engines',
  'config',
  'log',
  'concurrency',
  'json',
  'health',
  'errors',
  'version',
];

/** Rooms that share one place in the order of ROOMS with a file of another name. */
const FILES = { config: '(config|settings-file)\\.ts$' };
const pathOf = (room) => FILES[room] ?? `(${room}\\.ts$|${room}/)`;

const placeless = readdirSync('src').filter((name) => ![...ROOMS, 'settings-file'].includes(name.replace(/\.ts$/, '')));
if (placeless.length > 0) throw new Error(`Without a place in ROOMS: src/${placeless.join(', src/')}`);

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

/** Packages that a package may import; what is not named here may be imported by none. */
const BELOW = {
  googlesql: [],
  'duckdb-engine': ['googlesql'],
  collector: ['googlesql', 'duckdb-engine'],
  explorer: ['googlesql'],
};

const packages = readdirSync('packages').map((name) => ({
  name: `${name} imports the packages below it`,
  severity: 'error',
  from: { path: `^packages/${name}/src/` },
  to: { path: '^(src|packages)/', pathNot: `^packages/(${[name, ...(BELOW[name] ?? [])].join('|')})/` },
}));

/** Grammars and trees: one function for each production, each of which calls the others. */
const RECURSIVE = '^packages/(googlesql/src/(parser|resolver|printer|lql)|duckdb-engine/src/translate)/';

module.exports = {
  forbidden: [
    ...downwards,
    ...packages,
    {
      name: 'a package is imported through its face',
      comment: 'Export it in src/face/ of the package, and import it by the name of the package.',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/' },
      to: { path: '^packages/[^/]+/src/(?!face/)', pathNot: '^$1/' },
    },
    {
      name: 'a package is imported by its name',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/' },
      to: { path: '^packages/', pathNot: '^$1/', dependencyTypesNot: ['aliased-workspace', 'undetermined', 'npm'] },
    },
    {
      name: 'a face is for those outside',
      severity: 'error',
      from: { path: '^packages/([^/]+)/src/' },
      to: { path: '^packages/$1/src/face/' },
    },
    {
      name: 'the server imports nothing of the page',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^packages/explorer/' },
    },
    {
      name: 'googlesql runs in browsers',
      severity: 'error',
      from: { path: '^packages/googlesql/src/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sandbox/fence is imported by its index.ts',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/fence/' },
      to: { path: '^src/sandbox/fence/(?!index\\.ts$)' },
    },
    {
      name: 'no circles',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: RECURSIVE },
      to: { circular: true },
    },
    { name: 'every import is found', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'the product needs no development packages',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/', pathNot: '^packages/explorer/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src imports nothing outside',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/' },
      to: { path: '^(test|bench|emulator|packages/[^/]+/test)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['logquay', 'import', 'require', 'node', 'default', 'types'],
    },
  },
};
