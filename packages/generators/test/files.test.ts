import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compareFiles, type GeneratedFile, GeneratorError, typescriptClient, writeFiles } from '@pgway/generators';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planned } from './endpoints.ts';
import { folderWith } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ folder, remove } = await folderWith([])));
afterEach(async () => remove());

const file = (path: string, content: string, timestampLines: readonly number[] = []): GeneratedFile => ({
  path,
  content,
  timestampLines,
});
const write = (files: readonly GeneratedFile[], overwrite = false): ReturnType<typeof writeFiles> =>
  writeFiles(files, { folder, overwrite });
const onDisk = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
const long = new Date('2020-01-01T00:00:00Z');
const age = (path: string): Promise<void> => utimes(join(folder, path), long, long);
const timeOf = async (path: string): Promise<Date> => (await stat(join(folder, path))).mtime;

describe('writing', () => {
  test('creates folders, and leaves no temporary file', async () => {
    expect(await write([file('a/b/c.ts', 'one'), file('d.ts', 'two')])).toEqual([
      { path: 'a/b/c.ts', state: 'missing' },
      { path: 'd.ts', state: 'missing' },
    ]);
    expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['a', 'a/b', 'a/b/c.ts', 'd.ts']);
    expect(await onDisk('a/b/c.ts')).toBe('one');
  });

  test('leaves a file unchanged that differs only in timestamp or line endings', async () => {
    await writeFile(join(folder, 'a.ts'), '// at 1\r\nx\r\n');
    await age('a.ts');
    expect(await write([file('a.ts', '// at 2\nx\n', [0])])).toEqual([{ path: 'a.ts', state: 'same' }]);
    expect(await timeOf('a.ts')).toEqual(long);
    expect(await onDisk('a.ts')).toBe('// at 1\r\nx\r\n');
  });

  test('replaces a different file only with overwrite, with the new timestamp', async () => {
    await write([file('a.ts', '// at 1\nx\n', [0])]);
    const next = file('a.ts', '// at 2\ny\n', [0]);
    await expect(write([next])).rejects.toThrow(
      new GeneratorError('"a.ts": the file exists with other content; remove it or set fileOverwrite'),
    );
    expect(await write([next], true)).toEqual([{ path: 'a.ts', state: 'different' }]);
    expect(await onDisk('a.ts')).toBe('// at 2\ny\n');
  });

  test('writes no file when some must not be replaced, and names them all', async () => {
    await write([file('b.ts', 'b'), file('c.ts', 'c')]);
    await expect(write([file('a.ts', 'a'), file('b.ts', 'x'), file('c.ts', 'x')])).rejects.toThrow(
      '"b.ts", "c.ts": the files exist with other content; remove them or set fileOverwrite',
    );
    expect(await readdir(folder)).toEqual(['b.ts', 'c.ts']);
  });

  test('replaces the target of a symbolic link', async () => {
    await mkdir(join(folder, 'real'));
    await writeFile(join(folder, 'real/a.ts'), 'old');
    await symlink('real/a.ts', join(folder, 'a.ts'));
    await write([file('a.ts', 'new')], true);
    expect(await onDisk('real/a.ts')).toBe('new');
    expect(await readdir(join(folder, 'real'))).toEqual(['a.ts']);
  });

  test('rejects two files with the same path', async () => {
    await expect(write([file('a.ts', '1'), file('./a.ts', '2')])).rejects.toThrow(
      '"./a.ts": the path of two generated files',
    );
  });

  test('names files that cannot be read or written, and leaves no temporary file', async () => {
    await writeFile(join(folder, 'plain'), '');
    await expect(write([file('plain/a.ts', 'x')])).rejects.toThrow(
      /^"plain\/a\.ts" cannot be read: a part of the path is a file/,
    );
    await mkdir(join(folder, 'dir.ts'));
    await expect(write([file('dir.ts', 'x')], true)).rejects.toThrow(/^"dir\.ts" cannot be read: the path is a folder/);
    expect((await readdir(folder)).toSorted()).toEqual(['dir.ts', 'plain']);
  });

  test.skipIf(process.getuid?.() === 0)('names a file in a folder without write permission', async () => {
    await mkdir(join(folder, 'closed'));
    await chmod(join(folder, 'closed'), 0o500);
    await expect(write([file('closed/a.ts', 'x')])).rejects.toThrow(
      '"closed/a.ts" cannot be written: permission denied',
    );
  });
});

test('compareFiles writes nothing', async () => {
  await write([file('same.ts', 'x'), file('other.ts', 'x')]);
  const files = [file('same.ts', 'x'), file('other.ts', 'y'), file('missing.ts', 'z')];
  expect(await compareFiles(files, { folder })).toEqual([
    { path: 'same.ts', state: 'same' },
    { path: 'other.ts', state: 'different' },
    { path: 'missing.ts', state: 'missing' },
  ]);
  expect((await readdir(folder)).toSorted()).toEqual(['other.ts', 'same.ts']);
});

test('a handler writes the files of its generator, and leaves equal files unchanged', async () => {
  const handler = typescriptClient({ filePath: join(folder, 'client.ts') });
  const endpoints = planned([{ comment: 'HTTP GET' }]);
  await handler(endpoints);
  expect(await onDisk('client.ts')).toMatch(/^\/\/ autogenerated at 20\d\d-.*\n\n\nimport type /);
  await age('client.ts');
  await handler(endpoints);
  expect(await timeOf('client.ts')).toEqual(long);
  await expect(handler(planned([{ comment: 'HTTP POST' }]))).rejects.toThrow(GeneratorError);
});
