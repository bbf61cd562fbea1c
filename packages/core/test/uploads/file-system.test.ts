import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileSystemHandler } from '../../src/uploads/file-system.ts';
import { filesIn, newFolder, openFilesIn, UploadRequest } from './file-store.ts';

const uuidName = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const isRoot = process.getuid?.() === 0;

async function setUp(options: Parameters<typeof fileSystemHandler>[0] = {}) {
  const path = await newFolder();
  const handler = fileSystemHandler({ path, uniqueName: false, ...options });
  return { path, handler, request: new UploadRequest(handler) };
}

describe('the name and the folder', () => {
  test('by default, a file gets a new name with its extension in the working directory', () => {
    const defaults = Object.entries(fileSystemHandler().options!).map(([name, option]) => [name, option.default]);

    expect(Object.fromEntries(defaults)).toEqual({ path: './', file: null, unique_name: true, create_path: true });
    expect(fileSystemHandler().refusedMembers).toEqual({ members: { filePath: null } });
  });

  test('unique_name = true gives each file a new name', async () => {
    const { path, request } = await setUp({ uniqueName: true });

    const first = await request.store({ fileName: 'cover.png', content: 'first' });
    const second = await request.store({ fileName: 'cover.png', content: 'second' });
    await request.commit();

    const [a, b] = [first, second].map(({ members }) => basename(members!['filePath'] as string)) as [string, string];
    expect(a).toMatch(new RegExp(`${uuidName.source}\\.png$`));
    expect(first).toEqual({ status: 'Ok', members: { filePath: join(path, a) } });
    expect(filesIn(path)).toEqual({ [a]: 'first', [b]: 'second' });
  });

  test('unique_name = false keeps the name of the client', async () => {
    const { path, request } = await setUp();

    const stored = await request.store({ fileName: 'cover.png', content: 'bytes' });

    expect(stored).toEqual({ status: 'Ok', members: { filePath: join(path, 'cover.png') } });
    expect(filesIn(path)).toEqual({ 'cover.png': 'bytes' });
    expect((await stat(join(path, 'cover.png'))).mode & 0o777).toBe(0o640 & ~process.umask());
  });

  test('filePath is the configured path with the name, normalized', async () => {
    const { path, request } = await setUp();
    const configured = `./${relative(process.cwd(), path)}//new/`;

    const stored = await request.store({ fileName: 'cover.png', options: { path: configured } });

    expect(stored.members).toEqual({ filePath: join(relative(process.cwd(), path), 'new/cover.png') });
    expect(filesIn(path)).toEqual({ new: null, 'new/cover.png': '' });
  });

  test.each([
    ['cover.png', 'cover.png'],
    ['../../cover.png', 'cover.png'],
    ['/etc/cover.png', 'cover.png'],
    ['.cover', 'cover'],
  ])('file = %s stores the file as %s', async (file, name) => {
    const { path, request } = await setUp({ file });

    await request.store({ fileName: 'client.txt', content: 'bytes' });

    expect(filesIn(path)).toEqual({ [name]: 'bytes' });
  });

  test.each(['', '..', '/', '...'])('file = %j is no name: the file gets a new one', async (file) => {
    const { path, request } = await setUp({ file });

    await request.store({ fileName: 'client.txt' });

    expect(Object.keys(filesIn(path))).toEqual([expect.stringMatching(new RegExp(`${uuidName.source}\\.txt$`))]);
  });

  test('a file may have no bytes, or several megabytes', async () => {
    const { path, request } = await setUp();
    const chunks = Array.from({ length: 100 }, (_, index) => Buffer.alloc(50_000, index));

    await request.store({ fileName: 'empty', content: Readable.from([]) });
    await request.store({ fileName: 'large', content: Readable.from(chunks), options: { buffer_size: 100_000 } });

    expect(filesIn(path)['empty']).toBe('');
    expect(Buffer.concat(chunks).equals(await readFile(join(path, 'large')))).toBe(true);
  });

  test('a file has its final name only when it is complete', async () => {
    const { path, request } = await setUp();
    const content = new PassThrough();

    const stored = request.store({ fileName: 'cover.png', content });
    content.write('begin ');
    await expect.poll(() => Object.values(filesIn(path))).toEqual(['begin ']);
    expect(Object.keys(filesIn(path))).toEqual([expect.stringMatching(/^\.pgway-[-0-9a-f]{36}\.tmp$/)]);
    expect(openFilesIn(path)).toHaveLength(process.platform === 'linux' ? 1 : 0);
    content.end('end');
    await stored;

    expect(filesIn(path)).toEqual({ 'cover.png': 'begin end' });
    expect(openFilesIn(path)).toEqual([]);
  });
});

describe('folders', () => {
  test('with create_path = false, a missing folder fails the request without telling its path', async () => {
    const { path, request } = await setUp({ createPath: false });

    const stored = request.store({ fileName: 'cover.png', options: { path: join(path, 'missing') } });

    await expect(stored).rejects.toMatchObject({
      code: 'internal',
      status: 500,
      detail: '"cover.png" could not be stored.',
      cause: { code: 'ENOENT', path: join(path, 'missing') },
    });
  });

  test.skipIf(isRoot)('a folder without write permission fails the request', async () => {
    const { path, request } = await setUp();
    await chmod(path, 0o500);

    await expect(request.store({ fileName: 'cover.png' })).rejects.toMatchObject({
      code: 'internal',
      cause: { code: 'EACCES' },
    });
  });

  test('a path that is a file fails the request', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'file'), '');

    const stored = request.store({ fileName: 'cover.png', options: { path: join(path, 'file') } });

    await expect(stored).rejects.toMatchObject({ code: 'internal', cause: { code: 'EEXIST' } });
  });

  test('the configured folder may be a link', async () => {
    const { path, request } = await setUp();
    await mkdir(join(path, 'disk'));
    await symlink(join(path, 'disk'), join(path, 'covers'));

    const stored = await request.store({
      fileName: 'a',
      content: 'bytes',
      options: { path: join(path, 'covers/2026') },
    });

    expect(stored.members).toEqual({ filePath: join(path, 'covers/2026/a') });
    expect(filesIn(path)).toEqual({ covers: null, disk: null, 'disk/2026': null, 'disk/2026/a': 'bytes' });
  });

  test('folders of a template are created', async () => {
    const { path, request } = await setUp();

    await request.store({
      fileName: 'a',
      content: 'bytes',
      options: { path: join(path, 'acme/x1/covers') },
      templates: { path: join(path, '{tenant}/x{year}/covers') },
    });

    expect(filesIn(path)).toEqual({ acme: null, 'acme/x1': null, 'acme/x1/covers': null, 'acme/x1/covers/a': 'bytes' });
  });

  test('a whole path may come from a template: it is in the working directory', async () => {
    const { path, request } = await setUp();
    const previous = process.cwd();
    onTestFinished(() => process.chdir(previous));
    process.chdir(path);

    const stored = await request.store({
      fileName: 'a',
      options: { path: 'acme' },
      templates: { path: '{tenant}' },
    });

    expect(stored.members).toEqual({ filePath: 'acme/a' });
    expect(filesIn(path)).toEqual({ acme: null, 'acme/a': '' });
  });

  test.each(['{tenant}', 'covers-{tenant}', '{tenant}/covers'])(
    'a link that the client names in %j is not followed',
    async (template) => {
      const { path, request } = await setUp();
      const outside = await newFolder();
      const value = template.replace('{tenant}', 'acme');
      const [link] = value.split('/') as [string];
      await symlink(outside, join(path, link));

      const stored = request.store({
        fileName: 'a',
        options: { path: join(path, value) },
        templates: { path: join(path, template) },
      });

      await expect(stored).rejects.toMatchObject({
        code: 'file-name-conflict',
        status: 409,
        detail: `"${link}" exists and is not a folder.`,
      });
      expect(filesIn(outside)).toEqual({});
    },
  );

  test.each(['..', 'a/../../x', '../x'])('%j in the place of a template does not leave the folder', async (value) => {
    const { path, request } = await setUp();
    const folder = join(path, 'folder');

    const stored = request.store({
      fileName: 'a',
      options: { path: `${folder}/${value}` },
      templates: { path: `${folder}/{tenant}` },
    });

    await expect(stored).rejects.toMatchObject({ code: 'invalid-parameter', status: 400 });
    expect(Object.values(filesIn(path)).filter((content) => content !== null)).toEqual([]);
  });

  test('a folder of a template that does not exist is an error of the client', async () => {
    const { path, request } = await setUp({ createPath: false });

    const stored = request.store({
      fileName: 'a',
      options: { path: join(path, 'acme') },
      templates: { path: join(path, '{tenant}') },
    });

    await expect(stored).rejects.toMatchObject({
      code: 'invalid-parameter',
      status: 400,
      detail: 'The folder "acme" does not exist.',
    });
  });
});

describe('a name that is in use', () => {
  test('a folder or a link of this name is kept, and the request fails', async () => {
    const { path, request } = await setUp();
    const outside = await newFolder();
    await writeFile(join(outside, 'target'), 'outside');
    await mkdir(join(path, 'folder'));
    await symlink(join(outside, 'target'), join(path, 'link'));
    await symlink(join(outside, 'new'), join(path, 'dangling'));

    for (const fileName of ['folder', 'link', 'dangling']) {
      await expect(request.store({ fileName, content: 'new' })).rejects.toMatchObject({
        code: 'file-name-conflict',
        status: 409,
        detail: `"${fileName}" exists and is not a regular file; upload the file under another name.`,
      });
    }
    await request.rollback();

    expect(filesIn(path)).toEqual({ dangling: null, folder: null, link: null });
    expect(filesIn(outside)).toEqual({ target: 'outside' });
  });

  test('a file is replaced when the request succeeds', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'a'), 'old');

    await request.store({ fileName: 'a', content: 'new' });
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('new');
    await request.commit();

    expect(filesIn(path)).toEqual({ a: 'new' });
  });

  test('a file is restored when the request fails', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'a'), 'old');

    await request.store({ fileName: 'a', content: 'new' });
    await request.store({ fileName: 'b', content: 'new' });
    await request.rollback();

    expect(filesIn(path)).toEqual({ a: 'old' });
  });

  test.each([
    ['commit', { a: '2' }],
    ['rollback', { a: 'old' }],
  ] as const)(
    'of two files of the same name in a request, the later one replaces the earlier: %s',
    async (end, files) => {
      const { path, request } = await setUp();
      await writeFile(join(path, 'a'), 'old');

      await request.store({ fileName: 'a', content: '1' });
      await request.store({ fileName: 'a', content: '2' });
      await request[end]();

      expect(filesIn(path)).toEqual(files);
    },
  );

  /** Each letter is a request. Upper case: its commit; lower case: its rollback, which leaves nothing of it. */
  test.each([
    ['abc', 'old'],
    ['cba', 'old'],
    ['bac', 'old'],
    ['cab', 'old'],
    ['aBc', 'b'],
    ['acB', 'b'],
    ['cBa', 'b'],
    ['Abc', 'a'],
    ['cbA', 'a'],
    ['bcA', 'a'],
    ['bAc', 'a'],
    ['abC', 'c'],
    ['Cba', 'c'],
    ['CbA', 'c'],
    ['ABC', 'c'],
    ['CBA', 'c'],
  ])(
    'three requests that end in the order %s leave the file of the last one that succeeded: %s',
    async (ends, content) => {
      const { path, handler } = await setUp();
      await writeFile(join(path, 'x'), 'old');
      const requests: Record<string, UploadRequest> = {};
      for (const letter of ['a', 'b', 'c']) {
        requests[letter] = new UploadRequest(handler);
        await requests[letter].store({ fileName: 'x', content: letter });
      }

      for (const end of ends) {
        const request = requests[end.toLowerCase()]!;
        await (end === end.toLowerCase() ? request.rollback() : request.commit());
      }

      expect(filesIn(path)).toEqual({ x: content });
    },
  );

  test('requests that store and fail at the same time leave the old file', async () => {
    const { path, handler } = await setUp();
    await writeFile(join(path, 'x'), 'old');

    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const request = new UploadRequest(handler);
        await request.store({ fileName: 'x', content: `${index}` });
        await request.rollback();
      }),
    );

    expect(filesIn(path)).toEqual({ x: 'old' });
  });

  test('a file that another process has put there stays when the request fails', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'a'), 'old');
    await request.store({ fileName: 'a', content: 'new' });
    await writeFile(join(path, 'other'), 'of another process');
    await rename(join(path, 'other'), join(path, 'a'));

    await request.rollback();

    expect(filesIn(path)).toEqual({ a: 'of another process' });
  });

  test('a file that another process has removed is no error', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'a'), 'old');
    await request.store({ fileName: 'a', content: 'new' });
    await request.store({ fileName: 'b', content: 'new' });
    await rm(join(path, 'a'));
    await rm(join(path, 'b'));

    await request.rollback();

    expect(filesIn(path)).toEqual({ a: 'old' });
  });
});

describe('failures leave no file and no open handle', () => {
  const failure = new Error('the client has disconnected');

  test('an error of the content', async () => {
    const { path, request } = await setUp();
    await writeFile(join(path, 'a'), 'old');
    const content = new PassThrough();

    const stored = request.store({ fileName: 'a', content });
    content.write('begin');
    await expect.poll(() => Object.values(filesIn(path))).toContain('begin');
    content.destroy(failure);

    await expect(stored).rejects.toBe(failure);
    expect(filesIn(path)).toEqual({ a: 'old' });
    expect(openFilesIn(path)).toEqual([]);
  });

  test('an error of the network is not one of the disk', async () => {
    const { request } = await setUp();
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read', errno: -104 });
    const content = new PassThrough();
    content.write('begin');

    const stored = request.store({ fileName: 'a', content });
    content.destroy(reset);

    await expect(stored).rejects.toBe(reset);
  });

  test('an abort of the upload', async () => {
    const { path, request } = await setUp();
    const content = new PassThrough();

    const stored = request.store({ fileName: 'a', content });
    content.write('begin');
    await expect.poll(() => Object.values(filesIn(path))).toEqual(['begin']);
    const closed = once(content, 'close').catch(() => undefined);
    request.abort(failure);

    await expect(stored).rejects.toBe(failure);
    await closed;
    expect(filesIn(path)).toEqual({});
    expect(openFilesIn(path)).toEqual([]);
  });

  test('an abort before the file', async () => {
    const { path, request } = await setUp();
    request.abort(failure);

    await expect(request.store({ fileName: 'a', content: 'bytes' })).rejects.toBe(failure);

    expect(filesIn(path)).toEqual({});
    expect(openFilesIn(path)).toEqual([]);
  });

  test('a full disk', async ({ skip }) => {
    const path = await newFolder();
    skip(!isRoot || process.platform !== 'linux', 'mounting a file system needs root');
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path], { stdio: 'ignore' });
    } catch {
      skip('this system does not allow mounts');
    }
    onTestFinished(() => void execFileSync('umount', ['-l', path]));
    const request = new UploadRequest(fileSystemHandler({ path, uniqueName: false }));
    await request.store({ fileName: 'small', content: 'fits' });
    const chunks = Array.from({ length: 40 }, () => Buffer.alloc(64 * 1024));

    const stored = request.store({ fileName: 'large', content: Readable.from(chunks) });

    await expect(stored).rejects.toMatchObject({
      code: 'insufficient-storage',
      status: 507,
      detail: 'No space is left for "large".',
      cause: { code: 'ENOSPC' },
    });
    expect(filesIn(path)).toEqual({ small: 'fits' });
    expect(openFilesIn(path)).toEqual([]);
    await request.rollback();
    expect(filesIn(path)).toEqual({});
  });
});
