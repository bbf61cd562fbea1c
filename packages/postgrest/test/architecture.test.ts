import { resolve } from 'node:path';
import * as postgrest from '@pgway/postgrest';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the names that a program can import', () => {
  expect(Object.keys(postgrest).toSorted()).toEqual(['databaseTypes', 'databaseTypesFiles', 'postgrestSource']);
});

test('only the core is imported, and a library of cookies', () => {
  const others = source.outside.filter(({ target }) => target !== '@pgway/core');
  expect(others.map(({ file, target }) => `${file} → ${target}`)).toEqual(['request-settings.ts → cookie']);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
