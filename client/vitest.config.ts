import { defineConfig } from 'vitest/config';

/** The adapters under the real SDKs, which `npm run test:sdks` installs. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['client/test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
