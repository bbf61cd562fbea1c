import { expect, test } from 'vitest';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../src/embedded-postgres.ts';
import { explain } from '../src/cli/error-message.ts';

const options = { dataDirectory: '/nonexistent', onUnexpectedExit: () => undefined };

/** Imports a package that is not there, as Node does it without the test runner's own resolution. */
function importMissing(name: string): Promise<never> {
  const error = new Error(
    `Cannot find package '${name}' imported from /app/node_modules/pgway/dist/embedded-postgres.js`,
  );
  return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }));
}

test('without the optional package, one line says what to configure or install', async () => {
  const error = await startEmbeddedPostgres(options, () => importMissing('@pgway/embedded')).catch(
    (problem: unknown) => problem,
  );

  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  expect(explain(error)).toBe(
    'no database is configured and the package @pgway/embedded is not installed; ' +
      'pass --connectionString=postgres://user@localhost:5432/name or run npm install @pgway/embedded',
  );
});

test('another package that cannot be found is an unexpected error', async () => {
  await expect(startEmbeddedPostgres(options, () => importMissing('pg'))).rejects.toMatchObject({
    name: 'Error',
    message: expect.stringContaining("Cannot find package 'pg'"),
  });
});
