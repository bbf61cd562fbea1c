import { resolve } from 'node:path';
import { filesInCycles, moduleOf, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

/** Returns the modules that a module imports, itself excluded. */
function importsOf(module: string): readonly string[] {
  const found = source.inside.filter(({ file, target }) => moduleOf(file) === module && moduleOf(target) !== module);
  return [...new Set(found.map(({ target }) => moduleOf(target)))].toSorted();
}

test('the test has read the files and their imports', () => {
  expect(source.files.length).toBeGreaterThan(150);
  expect(source.inside.length).toBeGreaterThan(400);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});

test('no two modules import each other', () => {
  const modules = [...new Set(source.files.map(moduleOf))];
  const pairs = modules.flatMap((module) =>
    importsOf(module)
      .filter((other) => module < other && importsOf(other).includes(module))
      .map((other) => `${module} and ${other}`),
  );
  expect(pairs).toEqual([]);
});

test('modules that others build on import nothing above them', () => {
  expect(
    Object.fromEntries(
      ['package-files', 'lifecycle', 'log', 'health', 'tracing', 'browser'].map((name) => [name, importsOf(name)]),
    ),
  ).toEqual({
    'package-files': [],
    lifecycle: ['expected-error'],
    log: ['config'],
    health: ['config', 'http', 'log'],
    tracing: ['config', 'http', 'log', 'version'],
    browser: [],
  });
});

test('no module of the server runs commands but the command line, the program of workers and the executable', () => {
  const users = source.inside.filter(({ target }) => target === 'cli/commands.ts' || target === 'cli/run.ts');
  expect([...new Set(users.map(({ file }) => file))].toSorted()).toEqual([
    'bin.ts',
    'cli/run.ts',
    'cli/worker.ts',
    'executable/executable.ts',
  ]);
});
