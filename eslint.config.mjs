import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

/** Rooms from top to bottom. A room imports from rooms below it and from itself (docs/architecture.md). */
const ROOMS = [
  ['main', 'src/main.ts'],
  ['app', 'src/app.ts'],
  ['http', 'src/http'],
  ['run', 'src/run.ts'],
  ['endpoints', 'src/endpoints'],
  ['sandbox', 'src/sandbox'],
  ['lql', 'src/lql'],
  ['cache', 'src/cache'],
  ['keys', 'src/keys'],
  ['redaction', 'src/redaction'],
  ['duckdb', 'src/engines/duckdb'],
  ['bigquery', 'src/engines/bigquery'],
  ['engines', 'src/engines'],
  ['googlesql', 'src/googlesql'],
  ['config', 'src/config.ts'],
  ['errors', 'src/errors'],
];

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'emulator/node_modules/', '.data/'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['**/*.js', '**/*.mjs'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { typescript: true },
      'boundaries/elements': ROOMS.map(([type, pattern]) => ({
        type,
        pattern,
        mode: pattern.endsWith('.ts') ? 'file' : 'folder',
      })),
    },
    rules: {
      'boundaries/element-types': [
        'error',
        {
          default: 'disallow',
          rules: ROOMS.map(([from], i) => ({ from: [from], allow: ROOMS.slice(i).map(([type]) => type) })),
        },
      ],
    },
  },
);
