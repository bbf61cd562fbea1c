import { resolve } from 'node:path';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

test('no file imports itself through others, types included', () => {
  const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

  expect(source.inside.length).toBeGreaterThan(300);
  expect(filesInCycles(source)).toEqual([]);
});
