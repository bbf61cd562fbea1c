import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readerProgram } from './build/reader-program.js';
import { part } from './testing/src/part.ts';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const integration = ['packages/*/test/**/*.test.ts', 'testing/src/**/*.test.ts'];
/** As integration tests, and each of them takes several seconds. */
const long = ['packages/*/test/**/*.long.test.ts'];
const slow = ['packages/*/test/**/*.slow.test.ts', 'bench/test/**/*.slow.test.ts'];
/** Projects `integration` and `property` run these; `property` runs ten times as many cases. */
const property = 'packages/*/test/**/*.property.test.ts';
const globalSetup = ['testing/src/global-setup.ts'];

/**
 * Slow files that install or build whole programs, or whose load lasts minutes: `PGWAY_TEST_PART=2/3` takes the second of each line. The three
 * columns take about the same time.
 */
const dividedFiles = [
  ['server/test/checkout', 'server/test/docs/site', 'server/test/install'],
  ['core/test/database/connection-lifetime', 'server/test/deploy/image', 'redis/test/sentinel'],
  ['server/test/tls/http2-attacks', 'server/test/http/attacks', 'server/test/deploy/proxies'],
  ['embedded/test/os-user', 'postgrest/test/statement-growth', 'core/test/tenants/many-tenants'],
  ['embedded/test/lifecycle', 'embedded/test/crash', 'server/test/executable'],
  ['server/test/pages/page', 'server/test/instances/one-of-two', 'server/test/pages/api-docs-page'],
  ['redis/test/rate-limits', 'scout/test/ddl/pg-dump', 'core/test/database/pooler-cuts'],
]
  .flat()
  .map((name) => `packages/${name}.slow.test.ts`);
const taken = new Set(part(dividedFiles));

const ofSlowTests = {
  globalSetup,
  provide: { caseFactor: 1 },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Short files that take long: they would begin last, and the run would wait for them alone. A file that is missing here costs only time. */
const longFiles = [
  'packages/core/test/behaviour/fair-connections.long.test.ts',
  'packages/core/test/plans/measured-plans.slow.test.ts',
  'packages/scout/test/advise/rules.long.test.ts',
  'packages/scout/test/ddl/replay.long.test.ts',
  'packages/server/test/checkout.slow.test.ts',
  'packages/server/test/deploy/image.slow.test.ts',
  'packages/server/test/docs/pages.slow.test.ts',
  'packages/server/test/docs/pages.test.ts',
  'packages/server/test/install.slow.test.ts',
  'packages/server/test/workers/workers.slow.test.ts',
].map(source);

/** Without the times of an earlier run, as in a fresh checkout, vitest begins with the largest files. */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ moduleId }: TestSpecification): boolean => longFiles.includes(moduleId);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

export default defineConfig({
  // The thread of row changes runs the sources, too.
  plugins: [readerProgram()],
  resolve: {
    // Tests run the sources, so that a test run needs no build.
    alias: {
      '@pgway/core/fastify': source('packages/core/src/adapters/fastify.ts'),
      '@pgway/core/connection': source('packages/core/src/postgres/client.ts'),
      '@pgway/core/explanation': source('packages/core/src/explanation/explanation.ts'),
      '@pgway/core/internal': source('packages/core/src/internal.ts'),
      '@pgway/core/suggestion': source('packages/core/src/validation/suggestion.ts'),
      '@pgway/core/terminal': source('packages/core/src/terminal/terminal.ts'),
      '@pgway/core': source('packages/core/src/index.ts'),
      '@pgway/generators/internal': source('packages/generators/src/internal.ts'),
      '@pgway/generators/files': source('packages/generators/src/write-files.ts'),
      '@pgway/generators': source('packages/generators/src/index.ts'),
      '@pgway/excel/internal': source('packages/excel/src/internal.ts'),
      '@pgway/excel': source('packages/excel/src/index.ts'),
      '@pgway/redis/internal': source('packages/redis/src/internal.ts'),
      '@pgway/redis': source('packages/redis/src/index.ts'),
      '@pgway/postgrest/internal': source('packages/postgrest/src/internal.ts'),
      '@pgway/postgrest': source('packages/postgrest/src/index.ts'),
      '@pgway/realtime/internal': source('packages/realtime/src/internal.ts'),
      '@pgway/realtime': source('packages/realtime/src/index.ts'),
      '@pgway/external-sign-in/internal': source('packages/external-sign-in/src/internal.ts'),
      '@pgway/external-sign-in': source('packages/external-sign-in/src/index.ts'),
      '@pgway/embedded': source('packages/embedded/src/index.ts'),
      '@pgway/testing/free-port': source('testing/src/free-port.ts'),
      '@pgway/testing': source('testing/src/index.ts'),
    },
  },
  test: {
    // The limits are for what never ends and for events that never come, not for slow machines.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    // Below the default timeout of a call, which would end a call that was not cancelled.
    expect: { poll: { timeout: 25_000 } },
    // Tests wait for PostgreSQL and for timeouts, hence one worker more than processors.
    maxWorkers: availableParallelism() + 1,
    // Transformed modules stay in node_modules: transforming takes half of the time of a run of one file.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: Sequencer },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'bench/test/**/*.test.ts'],
          exclude: slow,
          isolate: false,
        },
      },
      // The files of a worker share one process and its loaded modules: loading them again takes half a second a file.
      {
        extends: true,
        test: {
          name: 'integration',
          include: integration,
          exclude: [...slow, ...long],
          globalSetup,
          provide: { caseFactor: 0.1 },
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'long', include: long, globalSetup, provide: { caseFactor: 1 }, isolate: false },
      },
      // Load, memory, crashes, operating system users, whole programs: each file in a process of its own.
      {
        extends: true,
        test: {
          name: 'slow',
          include: slow,
          exclude: dividedFiles.filter((file) => !taken.has(file)),
          ...ofSlowTests,
        },
      },
      // A tenth of their cases runs in shared processes, too.
      {
        extends: true,
        test: {
          name: 'property',
          include: [property],
          ...ofSlowTests,
          isolate: false,
        },
      },
    ],
  },
});
