const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/environment.js',
  roots: ['<rootDir>/test', '<rootDir>/src', '<rootDir>/packages'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/test/.joined/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.ts$|/otlp-exporter-base/build/src/.+\\.js$|/jose/dist/.+\\.js$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: true,
      },
    ],
  },
  // OpenTelemetry's sender imports Node's own `http` when it sends; Jest runs an `import()` as a `require` alone.
  transformIgnorePatterns: ['/node_modules/(?!@opentelemetry/otlp-exporter-base/|jose/)'],
  // What is imported when it is needed is named by the file that Node will find: `import('./engine.js')`.
  moduleNameMapper: {
    '^(\\.{1,2}/.+)\\.js$': ['$1.js', '$1.ts'],
    '^@logquay/([^/]+)$': '<rootDir>/packages/$1/src/face/index.ts',
    '^@logquay/([^/]+)/([^/]+)$': '<rootDir>/packages/$1/src/face/$2.ts',
  },
  // A test file has globals of its own, which every use looks up through a function of Jest's: a tenth to a fifth of the
  // processor time where much is computed. These are looked up once for each module; those that fake timers replace may not be among them.
  sandboxInjectedGlobals: [
    ...['Array', 'BigInt', 'Boolean', 'JSON', 'Math', 'Number', 'Object', 'Promise', 'RegExp', 'Set', 'String'],
    ...['Symbol', 'Uint8Array', 'WeakMap', 'Error', 'RangeError', 'TypeError', 'AbortController', 'parseInt'],
  ],
  testTimeout: 180_000,
  // Many tests wait for processes that they have started: on few processors others run meanwhile.
  maxWorkers: Math.max(4, availableParallelism()),
};
