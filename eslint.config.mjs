import tseslint from 'typescript-eslint';

/**
 * Rooms from top to bottom: a room imports from itself and from rooms below it (docs/architecture.md).
 * `duckdb` and `bigquery` stand beside each other; both stand above the engine contract.
 */
const ROOMS = [
  ['cli', 'src/cli{.ts,/**}'],
  ['main', 'src/main.ts'],
  ['app', 'src/app.ts'],
  ['http', 'src/http/**'],
  ['postman', 'src/postman/**'],
  ['openapi', 'src/openapi/**'],
  ['run', 'src/run/**'],
  ['endpoints', 'src/endpoints/**'],
  ['sandbox', 'src/sandbox/**'],
  ['lql', 'src/lql/**'],
  ['cache', 'src/cache/**'],
  ['keys', 'src/keys/**'],
  ['redaction', 'src/redaction/**'],
  ['rendering', 'src/rendering/**'],
  ['limits', 'src/limits/**'],
  ['redis', 'src/redis/**'],
  ['metrics', 'src/metrics/**'],
  ['tracing', 'src/tracing/**'],
  ['telemetry', 'src/telemetry.ts'],
  ['duckdb', 'src/engines/duckdb/**'],
  ['bigquery', 'src/engines/bigquery/**'],
  ['engines', 'src/engines/*.ts'],
  ['googlesql', 'src/googlesql/**'],
  ['config', 'src/{config,settings-file}.ts'],
  ['log', 'src/log{.ts,/**}'],
  ['concurrency', 'src/concurrency/**'],
  ['health', 'src/health/**'],
  ['errors', 'src/errors/**'],
];

const imports = ROOMS.map(([room, files], i) => ({
  files: [files],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: ROOMS.slice(0, i).map(([above]) => ({
          regex: `^\\.{1,2}/(.*/)?${above}(/|$)`,
          message: `Imports run downwards: ${above} stands above ${room}.`,
        })),
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', '**/node_modules/', '.data/'] },
  ...tseslint.configs.recommended,
  { rules: { eqeqeq: 'error', 'no-console': 'error' } },
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "BinaryExpression[operator='in'][left.type!='Literal'][left.type!='PrivateIdentifier']",
          message: 'A text may name a member that every object has: use a Map or Object.hasOwn.',
        },
      ],
    },
  },
  ...imports,
  { files: ['**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off', 'no-undef': 'off' } },
);
