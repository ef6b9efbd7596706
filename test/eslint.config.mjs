/** What a type checker does not see: promises nobody waits for, types that are none, files that grow. */
import tseslint from 'typescript-eslint';

const ROOMS = ['bin', 'client/src', 'config', 'routes', 'src', 'tools', 'web/src'].map(
  (room) => `${room}/**/*.{ts,tsx}`,
);

export default tseslint.config(
  { ignores: ['**/node_modules/', '**/dist/', 'coverage/'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: `${import.meta.dirname}/..` } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'no-empty': 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ROOMS,
    rules: {
      'no-console': 'error',
      // The bundler keeps all of Zod, messages in thirty languages included, for a named import of its namespace.
      'no-restricted-syntax': [
        'error',
        {
          selector: "ImportDeclaration[source.value='zod'] > ImportSpecifier[imported.name='z']",
          message: "Write `import * as z from 'zod'`.",
        },
      ],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', { max: 5 }],
    },
  },
  // All texts of the console stand in one file, where they can be found and translated.
  { files: ['web/src/texts.ts'], rules: { 'max-lines': 'off' } },
);
