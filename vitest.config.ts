import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run the sources, so that a test run needs no build.
    alias: {
      '@pgway/core/fastify': source('packages/core/src/adapters/fastify.ts'),
      '@pgway/core': source('packages/core/src/index.ts'),
      '@pgway/embedded': source('packages/embedded/src/index.ts'),
      '@pgway/testing': source('testing/src/index.ts'),
    },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'testing/src/**/*.test.ts'],
    globalSetup: ['testing/src/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What a test polls for is an event: the bound is there for what never comes, not for a machine that is slow.
    expect: { poll: { timeout: 15_000 } },
  },
});
