import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', '**/node_modules/', '.data/'] },
  ...tseslint.configs.strict,
  { rules: { eqeqeq: 'error', 'no-console': 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeCheckedOnly],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Numbers, BigInts and booleans have one text. A group of a matched pattern is typed as possibly undefined.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true, allowAny: false, allowRegExp: false },
      ],
      // `() => emit()` says that nothing comes back; so does `return emit()` in a switch of a function without a result.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // What was thrown is handed on as it came.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // `async` also says that what is thrown is a rejection.
      '@typescript-eslint/require-await': 'off',
      // With noUncheckedIndexedAccess `!` is how one says that an index is inside of its list.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Flow analysis does not know what an await, a callback or a getter changes: three of four findings were wrong.
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
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
  {
    files: ['{test,bench,emulator}/**/*.ts'],
    rules: {
      // JSON of a response is any; the assertions are what holds it to a shape.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // Values of rows are unknown, and compared as text.
      '@typescript-eslint/no-base-to-string': 'off',
      // A mock is named by its method.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
  { files: ['**/*.{js,cjs}'], rules: { '@typescript-eslint/no-require-imports': 'off', 'no-undef': 'off' } },
);
