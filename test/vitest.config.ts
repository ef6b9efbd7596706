import { defineConfig } from 'vitest/config';

/** Real processes and files on two cores: few workers, roomy timeouts, no retries. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/chaos/**', 'test/package/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
