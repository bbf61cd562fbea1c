import { resolve } from 'node:path';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('only the core is imported; the files that are written are the only use of Node.js', () => {
  expect(source.files.length).toBeGreaterThan(30);
  expect(source.inside.filter(({ target }) => target.startsWith('../'))).toEqual([]);
  const others = source.outside.filter(({ target }) => target !== '@pgway/core');
  expect([...new Set(others.map(({ file, target }) => `${file} → ${target}`))].toSorted()).toEqual([
    'write-files.ts → node',
  ]);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
