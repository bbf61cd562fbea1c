import { resolve } from 'node:path';
import { filesInCycles, moduleOf, readSourceFiles, upwardImports } from '@pgway/testing';
import { expect, test } from 'vitest';

/** The modules, from the lowest layer to the highest. A module imports from the layers before its own, types included. */
const layers = [
  ['package-folder', 'process'],
  ['output'],
  ['catalog', 'connection'],
  ['command'],
  ['ddl', 'endpoints', 'tools', 'completion', 'schema-files'],
  ['advise', 'diff', 'docs', 'info', 'inserts', 'list', 'search', 'tree'],
  ['cli'],
  ['bin'],
];

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the test has read the files and their imports', () => {
  expect(source.files.length).toBeGreaterThan(100);
  expect(source.inside.length).toBeGreaterThan(200);
});

test('every module has a layer', () => {
  expect([...new Set(source.files.map(moduleOf))].toSorted()).toEqual(layers.flat().toSorted());
});

test('a module imports from lower layers only', () => {
  expect(upwardImports(source, layers)).toEqual([]);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});

test('only the endpoints import modules of the server, which the build adds to the program', () => {
  const foreign = source.inside.filter(({ target }) => target.startsWith('../'));
  expect([
    ...new Set(foreign.map(({ file, target }) => `${file} → ${target.split('/').slice(0, 3).join('/')}`)),
  ]).toEqual(['endpoints/read-explanations.ts → ../../server']);
});
