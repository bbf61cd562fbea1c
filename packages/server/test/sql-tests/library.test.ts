/** The tests of the example library, as `pgway test` runs them. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

const library = fileURLToPath(new URL('../../../../examples/library/', import.meta.url));

test('the tests of the example library succeed', async () => {
  const scripts = ['schema.sql', 'data.sql', 'api.sql'].map((file) => readFile(join(library, file), 'utf8'));
  const database = await freshDatabase((await Promise.all(scripts)).join('\n'));
  onTestFinished(() => database.drop());
  const folder = await folderWith({ 'pgway.json': { connectionString: database.connectionString } });
  await cp(join(library, 'tests'), join(folder, 'tests'), { recursive: true });
  const streams = createTestProcess(folder);

  const code = await run(['test'], {}, streams);

  expect(streams.text.stdout).toBe(`tests/catalogue.test.sql
  ok     books are found by title and genre
  ok     a new book has its authors
  ok     an ISBN that is known is refused
  ok     the rules of a book are those of the table
  ok     an unknown book has no content
  ok     copies are counted by condition
tests/counter.test.sql
  ok     a copy is lent once
  ok     a fine is paid before the next loan
  ok     a reserved book goes to the first of the queue
9 tests, 0 failed
`);
  expect(code).toBe(0);
});
