import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LogFile, type LogFileOptions } from '../../src/log/log-file.ts';
import { folderWith } from '../support/folder.ts';

function open(path: string, options: Partial<LogFileOptions> = {}): LogFile {
  const file = new LogFile({ path, maxSize: 1_000_000, interval: null, maxFiles: 2, ...options });
  onTestFinished(() => file.close());
  return file;
}

const blocks = (...lines: readonly string[]): readonly Uint8Array[] => lines.map((line) => Buffer.from(line));

const permissions = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

test('the folder is created, and other users may read neither folder nor file', async () => {
  const folder = await folderWith();
  const path = join(folder, 'logs/more/pgway.log');

  const file = open(path);
  await file.write(blocks('a\n', 'b\n'));
  await file.write(blocks('c\n'));

  expect(await readFile(path, 'utf8')).toBe('a\nb\nc\n');
  expect([await permissions(path), await permissions(join(folder, 'logs/more'))]).toEqual(['640', '750']);
});

test('at the exit, lines of a write that has not stored them yet come first, and are not repeated otherwise', async () => {
  const path = join(await folderWith(), 'pgway.log');
  const file = open(path);
  const [first, second, third] = blocks('first\n', 'second\n', 'third\n') as [Uint8Array, Uint8Array, Uint8Array];

  await file.write([first]);
  file.appendAtExit(second, first);
  expect(await readFile(path, 'utf8')).toBe('first\nsecond\n');

  const running = file.write([third]);
  file.appendAtExit(second, third);
  expect(await readFile(path, 'utf8')).toBe('first\nsecond\nthird\nsecond\n');
  await running;
});

test('an existing file is continued', async () => {
  const folder = await folderWith({ 'pgway.log': 'old\n' });

  await open(join(folder, 'pgway.log')).write(blocks('new\n'));

  expect(await readFile(join(folder, 'pgway.log'), 'utf8')).toBe('old\nnew\n');
});

test('beyond its size, a file becomes an older one; of these, the number is limited', async () => {
  const folder = await folderWith();
  const file = open(join(folder, 'pgway.log'), { maxSize: 6 });

  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n', 'x\n']) await file.write(blocks(line));

  const names = (await readdir(folder)).toSorted();
  const contents = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
  expect(contents).toEqual([
    ['pgway.log', 'x\n'],
    ['pgway.log.1', 'fourth\n'],
    ['pgway.log.2', 'third\n'],
  ]);
});

test('a file with an interval is written', async () => {
  const folder = await folderWith();
  await open(join(folder, 'day.log'), { interval: 'day' }).write(blocks('a\n'));
  await open(join(folder, 'hour.log'), { interval: 'hour' }).write(blocks('b\n'));
  expect(await readFile(join(folder, 'day.log'), 'utf8')).toBe('a\n');
  expect(await readFile(join(folder, 'hour.log'), 'utf8')).toBe('b\n');
});

test('a file that cannot be opened is opened later', async () => {
  const folder = await folderWith();
  const path = join(folder, 'pgway.log');
  await mkdir(path);
  const file = open(path);

  await expect(file.write(blocks('a\n'))).rejects.toThrow('it is not a file');
  await rm(path, { recursive: true });
  await file.write(blocks('b\n'));

  // The first write could have left a part of a line.
  expect(await readFile(path, 'utf8')).toBe('\nb\n');
});

test.skipIf(process.getuid?.() === 0)('a file without write permission', async () => {
  const folder = await folderWith({ 'pgway.log': '' });
  const path = join(folder, 'pgway.log');
  await chmod(path, 0o400);
  const file = open(path);

  await expect(file.write(blocks('a\n'))).rejects.toThrow('EACCES');
});

/** Mounts a file system of 64 KiB; returns false without the permission to do so. */
function mountSmall(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', [folder], { stdio: 'ignore' }));
    return true;
  } catch {
    return false;
  }
}

test('a full disk: writing fails, and resumes when there is space', async (context) => {
  const folder = await folderWith();
  if (!mountSmall(folder)) return context.skip();
  const path = join(folder, 'pgway.log');
  const file = open(path);
  await file.write(blocks('first\n'));
  await writeFile(join(folder, 'ballast'), Buffer.alloc(60 * 1024)).catch(() => undefined);

  await expect(file.write(blocks(`${'x'.repeat(10_000)}\n`))).rejects.toThrow('ENOSPC');
  await rm(join(folder, 'ballast'));
  await file.write(blocks('last\n'));

  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect([lines[0], lines.at(-1)]).toEqual(['first', 'last']);
});
