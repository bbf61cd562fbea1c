import { execFileSync } from 'node:child_process';
import { readdirSync, rmdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { defaultUploadHandlers, type UploadHandler } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { plain, problem, problemOf } from '../behaviour/support.ts';
import { beginUpload, endUpload, fileHead, form, type FormEntry, formEnd, largeObjects, leftovers } from './forms.ts';

/** The content that the handlers of the tests have stored, by handler and file name. */
const stored = new Map<string, string>();
const events: string[] = [];

/** A handler that keeps files in memory, and removes them when the request fails. */
function memoryHandler(name: string, settings: Partial<UploadHandler> = {}): () => UploadHandler {
  return () => ({
    options: { label: { type: 'text', description: 'A label.', default: 'none' } },
    store: async (file, { options, onRollback, onCommit }) => {
      const key = `${name}/${file.fileName}`;
      stored.set(key, await text(file.content));
      onRollback(() => void (events.push(`rollback ${key}`) && stored.delete(key)));
      onCommit(() => void events.push(`commit ${key}`));
      return { status: 'Ok', members: { label: options['label'], field: file.fieldName } };
    },
    ...settings,
  });
}

const refusing: Partial<UploadHandler> = {
  mayRefuse: true,
  store: async ({ content }) => ({ status: (await text(content)).startsWith('good') ? 'Ok' : 'InvalidFormat' }),
};

const endpoint = (name: string, upload: string, lines = '', body = 'select _meta'): string => `
  create function ${name}(_meta json, _label text default null) returns json language sql as $$ ${body} $$;
  comment on function ${name} is 'HTTP
  upload ${upload} _meta as metadata
  ${lines}';`;

const gateway = useGateway(
  endpoint('one', 'for first', 'label = {_label}') +
    endpoint('two', 'for second, first', 'second_label = two\nlabel = any') +
    endpoint('in_both', 'for large_object, first') +
    endpoint('failing', 'for first, second', '', 'select (1 / (json_array_length(_meta) - 2))::text::json') +
    endpoint('until_success', 'for refusing, first, large_object', 'stop_after_first_success = true') +
    endpoint(
      'checked_until_success',
      'for first, second',
      'stop_after_first_success = true\nfirst_included_mime_types = image/*',
    ) +
    endpoint('throwing', 'for first, throwing') +
    endpoint('reading_nothing', 'for lazy, first') +
    endpoint('querying', 'for querying') +
    endpoint('by_default', ''),
  {
    uploadOptions: {
      defaultUploadHandler: 'first',
      uploadHandlers: {
        ...defaultUploadHandlers({}),
        first: memoryHandler('first'),
        second: memoryHandler('second'),
        refusing: memoryHandler('refusing', refusing),
        throwing: memoryHandler('throwing', {
          store: async () => {
            throw new Error('the store is broken');
          },
        }),
        lazy: memoryHandler('lazy', { store: async () => ({ status: 'Ok', members: { lazy: true } }) }),
        querying: () => ({
          store: async ({ content }, { transaction }) => {
            const { query } = await transaction();
            const [row] = await query('select $1::int + length($2)', ['1', await text(content)]);
            return { status: 'Ok', lastMembers: { sum: row![0]! } };
          },
        }),
      },
    },
  },
);

afterEach(() => {
  stored.clear();
  events.length = 0;
});

async function upload(path: string, ...files: readonly FormEntry[]): Promise<readonly object[]> {
  const answer = await gateway.send(`POST /api/${path}`, { body: form(...files) });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body) as readonly object[];
}

describe('a handler of the host', () => {
  test('stores a file, with options of the comment and of the request', async () => {
    expect(await upload('one?label=from%20request', ['a.txt', 'hello'])).toEqual([
      {
        type: 'first',
        fileName: 'a.txt',
        contentType: 'text/plain',
        size: 5,
        label: 'from request',
        field: 'file',
        success: true,
        status: 'Ok',
      },
    ]);
    expect([...stored]).toEqual([['first/a.txt', 'hello']]);
    expect(events).toEqual(['commit first/a.txt']);
  });

  test('the default handler', async () => {
    expect(await upload('by-default', ['a.txt', 'x'])).toMatchObject([{ type: 'first', label: 'none' }]);
  });

  test('several handlers receive each file; the metadata has all files of the first handler first', async () => {
    const metadata = await upload('two', ['a.txt', 'x'], ['b.txt', 'y'.repeat(1_000_000)]);
    expect(metadata).toMatchObject([
      { type: 'second', fileName: 'a.txt', label: 'two' },
      { type: 'second', fileName: 'b.txt', label: 'two', size: 1_000_000 },
      { type: 'first', fileName: 'a.txt', label: 'any' },
      { type: 'first', fileName: 'b.txt', label: 'any', size: 1_000_000 },
    ]);
    expect(stored.get('first/b.txt')).toBe('y'.repeat(1_000_000));
    expect(stored.get('second/b.txt')).toBe('y'.repeat(1_000_000));
  });

  test('beside a handler of the database', async () => {
    expect(await upload('in-both', ['a.txt', 'both'])).toMatchObject([{ type: 'large_object' }, { type: 'first' }]);
    expect((await largeObjects(gateway.database)).at(-1)).toBe('both');
    expect(stored.get('first/a.txt')).toBe('both');
  });

  test('a call that fails removes what was stored, in reverse order', async () => {
    const answer = await gateway.send('POST /api/failing', { body: form(['a.txt', 'x']) });
    expect(problem(answer)).toMatchObject(problemOf(400, { code: '22012' }));
    expect([...stored]).toEqual([]);
    expect(events.toSorted()).toEqual(['rollback first/a.txt', 'rollback second/a.txt']);
  });

  test('an error of a handler is a 500, and what others stored is removed', async () => {
    const answer = await gateway.send('POST /api/throwing', { body: form(['a.txt', 'x']) });
    expect(problem(answer)).toMatchObject(problemOf(500, { title: 'The request could not be answered' }));
    expect(answer.body).not.toContain('broken');
    expect([...stored]).toEqual([]);
  });

  test('a handler that reads nothing does not stop the others', async () => {
    const metadata = await upload('reading-nothing', ['a.txt', 'z'.repeat(2_000_000)]);
    expect(metadata).toMatchObject([
      { type: 'lazy', size: 2_000_000 },
      { type: 'first', size: 2_000_000 },
    ]);
    expect(stored.get('first/a.txt')).toHaveLength(2_000_000);
  });

  test('a client that leaves: what was stored is removed', async () => {
    const slow = beginUpload(gateway, '/api/one');
    slow.write(`${fileHead('a.txt')}hello\r\n${fileHead('b.txt')}`);
    await expect.poll(() => stored.has('first/a.txt')).toBe(true);
    slow.socket.destroy();
    await expect.poll(() => stored.size).toBe(0);
  });

  test('queries in the transaction of the call', async () => {
    expect(await upload('querying', ['a.txt', 'hello'])).toMatchObject([{ type: 'querying', sum: 6 }]);
    expect((await leftovers(gateway.database)).transactions).toBe(0);
  });
});

describe('stop_after_first_success', () => {
  test('the next handlers ignore a file that one has stored', async () => {
    const before = await largeObjects(gateway.database);
    expect(await upload('until-success', ['a.txt', 'good one'], ['b.txt', 'bad one'])).toMatchObject([
      { type: 'refusing', fileName: 'a.txt', success: true, status: 'Ok' },
      { type: 'refusing', fileName: 'b.txt', success: false, status: 'InvalidFormat' },
      { type: 'first', fileName: 'a.txt', success: false, status: 'Ignored', size: 8 },
      { type: 'first', fileName: 'b.txt', success: true, status: 'Ok', size: 7 },
      { type: 'large_object', fileName: 'a.txt', success: false, status: 'Ignored', oid: null },
      { type: 'large_object', fileName: 'b.txt', success: false, status: 'Ignored', oid: null },
    ]);
    expect([...stored]).toEqual([['first/b.txt', 'bad one']]);
    expect(await largeObjects(gateway.database)).toEqual(before);
  });

  test('a large file that is refused after it was read', async () => {
    const content = 'bad'.repeat(1_000_000);
    expect(await upload('until-success', ['a.txt', content])).toMatchObject([
      { status: 'InvalidFormat' },
      { status: 'Ok', size: 3_000_000 },
      { status: 'Ignored' },
    ]);
    expect(stored.get('first/a.txt')).toBe(content);
  });

  test('a refusal by the checks', async () => {
    expect(
      await upload('checked-until-success', ['a.png', 'x', 'image/png'], ['a.txt', 'y', 'text/plain']),
    ).toMatchObject([
      { type: 'first', status: 'Ok' },
      { type: 'first', status: 'InvalidMimeType' },
      { type: 'second', status: 'Ignored' },
      { type: 'second', status: 'Ok' },
    ]);
  });

  test('no temporary file stays', async () => {
    const folders = (): number => readdirSync(tmpdir()).filter((name) => name.startsWith('pgway-upload-')).length;
    const before = folders();
    await upload('until-success', ['a.txt', 'bad one']);
    const slow = beginUpload(gateway, '/api/until-success');
    slow.write(`${fileHead('a.txt')}bad`);
    await expect.poll(folders).toBe(before + 1);
    slow.socket.destroy();
    await expect.poll(folders).toBe(before);
  });

  test('a full temporary folder is a 507, and nothing stays', async ({ skip }) => {
    skip(process.getuid?.() !== 0 || process.platform !== 'linux', 'mounting a file system needs root');
    const folder = await mkdtemp(join(tmpdir(), 'pgway-test-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      skip('this system does not allow mounts');
    }
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      execFileSync('umount', ['-l', folder]);
      rmdirSync(folder);
    });

    const answer = await gateway.send('POST /api/until-success', { body: form(['a.txt', 'x'.repeat(2_000_000)]) });

    expect(problem(answer)).toMatchObject(problemOf(507, { detail: 'The temporary folder has no space for "a.txt".' }));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an error of onRollback', () => {
  test('is observed, and changes nothing for the client', async () => {
    const other = await startGateway(endpoint('broken', 'for broken', '', `select (1 / 0)::text::json`), {
      uploadOptions: {
        uploadHandlers: {
          broken: () => ({
            store: async (_file, { onRollback }) => {
              onRollback(() => {
                throw new Error('still there');
              });
              return { status: 'Ok' };
            },
          }),
        },
      },
    });
    try {
      const answer = await other.send('POST /api/broken', { body: form(['a', 'x']) });
      expect(answer.status).toBe(400);
      expect(other.observations.filter(({ kind }) => kind === 'upload-cleanup-failed')).toMatchObject([
        { error: { message: 'still there' } },
      ]);
    } finally {
      await other.close();
    }
  });
});

test('a response that is streamed to its end commits; a file of a slow handler arrives whole', async () => {
  const slow = beginUpload(gateway, '/api/one');
  slow.write(`${fileHead('a.txt')}one`);
  slow.write(' two');
  slow.write(` three${formEnd}`);
  endUpload(slow);
  expect(await slow.response).toMatch(/^HTTP\/1\.1 200 /);
  slow.socket.destroy();
  expect(stored.get('first/a.txt')).toBe('one two three');
  expect(plain(await gateway.send('GET /api/none'))).toMatchObject({ status: 404 });
});

test('handlers of the host without the default one: a comment without a name is an error, others are published', async () => {
  const other = await startGateway(endpoint('named', 'for mine') + endpoint('unnamed', ''), {
    uploadOptions: { uploadHandlers: { mine: memoryHandler('mine') } },
  });
  try {
    expect(other.gateway.endpoints.map(({ name }) => name)).toEqual(['named']);
    expect(other.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      {
        code: 'unknown-handler',
        message:
          'upload names no handler, and the default handler "large_object" does not exist; write upload for mine, or set uploadOptions.defaultUploadHandler',
      },
    ]);
  } finally {
    await other.close();
  }
});
