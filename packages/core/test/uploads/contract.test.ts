import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { csvHandler, fileSystemHandler, largeObjectHandler } from '@pgway/core';
import { describeUploadHandler } from '../contracts/upload-handler.ts';

describeUploadHandler('large_object', {
  make: largeObjectHandler,
  file: ['a.txt', 'some text', 'text/plain'],
  members: { middle: [], last: ['oid'] },
  count: async ({ database }) => {
    const [row] = await database.query('select count(*)::int from pg_largeobject_metadata');
    return (row as { count: number }).count;
  },
});

const folder = mkdtempSync(join(tmpdir(), 'pgway-contract-'));
afterAll(() => rmSync(folder, { recursive: true }));
let number = 0;
let current = folder;

describeUploadHandler('file_system', {
  make: () => {
    current = join(folder, String(++number));
    return fileSystemHandler({ path: current });
  },
  file: ['a.txt', 'some text', 'text/plain'],
  members: { middle: ['filePath'], last: [] },
  count: async () => {
    try {
      return readdirSync(current).length;
    } catch {
      return 0;
    }
  },
});

describeUploadHandler('csv', {
  make: csvHandler,
  sql: 'create table imported (title text);',
  lines: ['row_command = insert into imported values ($2[1])'],
  file: ['a.csv', 'title\nEmma\n', 'text/csv'],
  members: { middle: [], last: ['lastResult'] },
  count: async ({ database }) => {
    const [row] = await database.query('select count(*)::int from imported');
    return (row as { count: number }).count;
  },
});
