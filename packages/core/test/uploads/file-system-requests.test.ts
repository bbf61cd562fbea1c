import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { holdLock, useGateway } from '@pgway/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filesIn, openFilesIn } from './file-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'pgway-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => mkdir(folder, { recursive: true }));
afterEach(() => {
  const handles = openFilesIn(folder);
  rmSync(folder, { recursive: true });
  if (handles.length > 0) throw new Error(`still open: ${handles.join(', ')}`);
});

const gateway = useGateway(
  `
  create function store(_files json) returns json language sql as 'select _files';
  comment on function store is 'HTTP POST /store
  upload for file_system
  param _files is upload metadata';

  create function store_by_name(_files json) returns json language sql as 'select _files';
  comment on function store_by_name is 'HTTP POST /store-by-name
  upload for file_system
  param _files is upload metadata
  unique_name = false';

  create function fail(_files json) returns json language plpgsql as
    $$ begin raise exception 'refused' using errcode = '23514'; end $$;
  comment on function fail is 'HTTP POST /fail
  upload for file_system
  param _files is upload metadata
  file_system_unique_name = false';

  create table entry (files json);
  create function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
  create constraint trigger at_commit after insert on entry deferrable initially deferred
    for each row execute function wait();
  create function commit_slowly(_files json) returns void language sql as 'insert into entry values (_files)';
  comment on function commit_slowly is 'HTTP POST /commit-slowly
  upload for file_system
  param _files is upload metadata
  unique_name = false';

  create function store_for(_tenant text, _name text, _files json) returns json language sql as 'select _files';
  comment on function store_for is 'HTTP POST /store-for
  upload for file_system
  param _files is upload metadata
  path = ${folder}/{_tenant}/covers
  file = {_name}.txt';
`,
  {
    urlPathPrefix: '',
    uploadOptions: { maxFileSize: 100_000, defaultUploadHandlerOptions: { fileSystem: { path: folder } } },
  },
);

async function post(path: string, ...files: readonly (readonly [name: string, content: string])[]) {
  const body = new FormData();
  for (const [name, content] of files) body.append('file', new File([content], name, { type: 'text/plain' }));
  const response = await fetch(gateway.url + path, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as unknown };
}

const metadata = (fileName: string, content: string, filePath: unknown) => ({
  type: 'file_system',
  fileName,
  contentType: 'text/plain',
  size: content.length,
  filePath,
  success: true,
  status: 'Ok',
});

describe('uploads to the file system', () => {
  test('the metadata tells the routine where the files are', async () => {
    const { status, body } = await post('/store', ['a.txt', 'first'], ['a.txt', 'second']);

    const names = Object.keys(filesIn(folder));
    expect(names).toHaveLength(2);
    expect(status).toBe(200);
    expect(body).toEqual([
      metadata('a.txt', 'first', expect.stringMatching(/\.txt$/)),
      metadata('a.txt', 'second', expect.stringMatching(/\.txt$/)),
    ]);
    const paths = (body as { filePath: string }[]).map(({ filePath }) => filePath);
    expect(paths.map((path) => basename(path)).toSorted()).toEqual(names.toSorted());
    expect(paths.map((path) => filesIn(folder)[basename(path)])).toEqual(['first', 'second']);
  });

  test('a file of the same name is replaced', async () => {
    await writeFile(join(folder, 'a.txt'), 'old');

    expect(await post('/store-by-name', ['a.txt', 'new'])).toEqual({
      status: 200,
      body: [metadata('a.txt', 'new', join(folder, 'a.txt'))],
    });
    expect(filesIn(folder)).toEqual({ 'a.txt': 'new' });
  });

  test('the files are removed when the routine raises an error, and the old one is restored', async () => {
    await writeFile(join(folder, 'a.txt'), 'old');

    expect(await post('/fail', ['a.txt', 'new'], ['b.txt', 'new'], ['a.txt', 'newer'])).toMatchObject({ status: 400 });
    expect(filesIn(folder)).toEqual({ 'a.txt': 'old' });
  });

  test('the files stay when the connection is lost during the commit: the routine may have stored their paths', async () => {
    const { connectionString } = gateway.database;
    const lock = await holdLock(connectionString, 1);
    const response = post('/commit-slowly', ['a.txt', 'new']);
    await expect.poll(() => lock.waiting()).toBe(1);
    // Other tests use other databases of the server.
    await gateway.database.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );

    expect(await response).toMatchObject({ status: 503, body: { type: 'urn:pgway:problem:outcome-unknown' } });
    expect(filesIn(folder)).toEqual({ 'a.txt': 'new' });
    await lock.release();
  });

  test('a file past the limit removes those before it', async () => {
    expect(await post('/store', ['a.txt', 'small'], ['b.txt', 'x'.repeat(100_001)])).toMatchObject({ status: 413 });
    expect(filesIn(folder)).toEqual({});
  });

  test('a folder of the name of a file is a 409, and the other files are removed', async () => {
    await mkdir(join(folder, 'b.txt'));

    expect(await post('/store-by-name', ['a.txt', 'new'], ['b.txt', 'new'])).toMatchObject({
      status: 409,
      body: {
        type: 'urn:pgway:problem:file-name-conflict',
        title: 'The file cannot be stored under this name',
        detail: '"b.txt" exists and is not a regular file; upload the file under another name.',
      },
    });
    expect(filesIn(folder)).toEqual({ 'b.txt': null });
  });

  test('an error of the file system is a 500 without its path, and the log has it', async () => {
    rmSync(folder, { recursive: true });
    await writeFile(folder, 'a file');

    const answer = await post('/store', ['a.txt', 'new']);

    expect(answer).toEqual({
      status: 500,
      body: {
        type: 'urn:pgway:problem:internal',
        title: 'The request could not be answered',
        status: 500,
        correlationId: expect.any(String) as string,
      },
    });
    expect(gateway.observations.at(-1)).toMatchObject({
      kind: 'request-failed',
      error: { detail: '"a.txt" could not be stored.', cause: { code: 'EEXIST', path: folder } },
    });
  });
});

describe('parameters in the path', () => {
  test('choose a folder and a name', async () => {
    expect(await post('/store-for?tenant=acme&name=cover%201', ['a.png', 'new'])).toEqual({
      status: 200,
      body: [metadata('a.png', 'new', join(folder, 'acme/covers/cover 1.txt'))],
    });
    expect(filesIn(folder)).toEqual({ acme: null, 'acme/covers': null, 'acme/covers/cover 1.txt': 'new' });
  });

  test.each([
    ['tenant=..&name=x', 'tenant', 'path', 'must not begin with a dot'],
    ['tenant=a%2F..%2F..&name=x', 'tenant', 'path', 'must not contain slashes or backslashes'],
    ['tenant=%2Fetc&name=x', 'tenant', 'path', 'must not contain slashes or backslashes'],
    ['tenant=C%3A&name=x', 'tenant', 'path', 'must not contain colons'],
    ['tenant=&name=x', 'tenant', 'path', 'must not be empty'],
    ['tenant=acme&name=..%2Fx', 'name', 'file', 'must not begin with a dot'],
    ['tenant=acme&name=x%0A', 'name', 'file', 'must not contain control characters'],
    ['tenant=acme&name=NUL', 'name', 'file', 'must not be a device name of Windows'],
  ])('%s is a 400, and nothing is stored', async (query, parameter, option, rule) => {
    expect(await post(`/store-for?${query}`, ['a.png', 'new'])).toMatchObject({
      status: 400,
      body: {
        type: 'urn:pgway:problem:invalid-parameter',
        detail: `The value of "${parameter}" goes into the upload option "${option}", which ${rule}.`,
        parameters: [parameter],
      },
    });
    expect(filesIn(folder)).toEqual({});
  });

  test('do not reach folders behind a link', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'pgway-test-'));
    await symlink(outside, join(folder, 'acme'));

    expect(await post('/store-for?tenant=acme&name=x', ['a.png', 'new'])).toMatchObject({
      status: 409,
      body: { detail: '"acme" exists and is not a folder.' },
    });
    expect(filesIn(outside)).toEqual({});
    rmSync(outside, { recursive: true });
  });
});
