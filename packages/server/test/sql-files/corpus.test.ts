import { freshDatabase, serverVersion } from '@pgway/testing';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { breakingChanges, constructFiles } from '../../../core/test/sql-files/corpus/constructs.ts';
import { prepare } from '../../../core/test/sql-files/corpus/oracle.ts';
import { schema } from '../../../core/test/sql-files/corpus/shops.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

test.each(breakingChanges)('pgway validate finds the place in each file: %s', async (_, change) => {
  const files = constructFiles.filter(({ since }) => since <= serverVersion());
  const database = await freshDatabase(`${schema}\n${change}`);
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const folder = await folderWith({
    'pgway.json': { connectionString, sqlFiles: 'api/*.sql' },
    ...Object.fromEntries(files.map(({ name, text }) => [`api/${name}.sql`, text])),
  });
  const streams = createTestProcess(folder);

  expect(await run(['validate'], {}, streams)).toBe(1);

  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  const expected: string[] = [];
  for (const file of files) {
    const outcome = await prepare(client, file);
    if ('places' in outcome) expected.push(...outcome.places.map((place) => `${file.name} ${place}`));
  }
  const errors = streams.text.stdout.split('\n').filter((line) => line.startsWith('error'));
  const places = errors.map((line) => line.replace(/^error api\/(\w+)\.sql, line (\d+): column (\d+): .*/, '$1 $2:$3'));
  expect(places.toSorted()).toEqual(expected.toSorted());
  expect(new Set(places.map((place) => place.split(' ')[0]))).toEqual(new Set(files.map(({ name }) => name)));
});
