import { readdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '@pgway/testing';
import type { UploadHandlerFactory } from '../../src/ports/upload-handler.ts';
import { problem, problemOf } from '../behaviour/support.ts';
import { beginUpload, fileHead, form, type FormEntry } from '../uploads/forms.ts';

export interface HandlerCase {
  readonly make: UploadHandlerFactory;
  /** SQL that the options need, such as the function of a row command. */
  readonly sql?: string;
  /** Lines of the comment. */
  readonly lines?: readonly string[];
  /** A file of at least 8 bytes that the handler stores. */
  readonly file: FormEntry;
  /** The members of the metadata between `size` and `success`, and those after `status`. */
  readonly members: { readonly middle: readonly string[]; readonly last: readonly string[] };
  /** Counts what the handler has stored. */
  readonly count: (gateway: TestGateway) => Promise<number>;
}

const endpoint = (name: string, handlers: string, lines: readonly string[], body = 'select _meta'): string => `
  create function ${name}(_meta json) returns json language sql as $$ ${body} $$;
  comment on function ${name} is 'HTTP
  upload for ${handlers} _meta as metadata
  ${lines.join('\n').replaceAll("'", "''")}';`;

/** Defines the contract tests of an implementation of `UploadHandler`. */
export function describeUploadHandler(name: string, { make, sql = '', lines = [], ...handler }: HandlerCase): void {
  const { file, members, count } = handler;

  async function start(): Promise<TestGateway> {
    const gateway = await startGateway(
      sql +
        endpoint('store', 'tested', lines) +
        endpoint('refuse', 'tested', [...lines, 'excluded_mime_types = *']) +
        endpoint('fail', 'tested', lines, 'select (1 / 0)::text::json') +
        endpoint('ignore', 'other, tested', [...lines, 'stop_after_first_success = true']),
      {
        uploadOptions: {
          maxFileSize: 1_000_000,
          maxFiles: 2,
          uploadHandlers: {
            tested: make,
            other: () => ({
              store: async ({ content }) => {
                for await (const _ of content);
                return { status: 'Ok' };
              },
            }),
          },
        },
      },
    );
    onTestFinished(() => gateway.close());
    return gateway;
  }

  async function upload(
    gateway: TestGateway,
    path: string,
    ...files: readonly FormEntry[]
  ): Promise<readonly object[]> {
    const answer = await gateway.send(`POST /api/${path}`, { body: form(...files) });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
    return JSON.parse(answer.body) as readonly object[];
  }

  const common = { fileName: file[0], contentType: file[2], size: Buffer.byteLength(file[1]) };

  describe(`the contract of UploadHandler: ${name}`, () => {
    test('a stored file: the metadata has its members in order', async () => {
      const gateway = await start();
      const [metadata] = await upload(gateway, 'store', file);
      expect(metadata).toMatchObject({ type: 'tested', ...common, success: true, status: 'Ok' });
      expect(Object.keys(metadata!)).toEqual([
        'type',
        'fileName',
        'contentType',
        'size',
        ...members.middle,
        'success',
        'status',
        ...members.last,
      ]);
      expect(await count(gateway)).toBeGreaterThan(0);
    });

    test('two files are stored one after the other', async () => {
      const gateway = await start();
      await upload(gateway, 'store', file);
      const one = await count(gateway);
      await upload(gateway, 'store', file, ['second', file[1], file[2] ?? '']);
      expect(await count(gateway)).toBe(3 * one);
    });

    test('a file that the checks refuse: no success, and nothing is stored', async () => {
      const gateway = await start();
      expect(await upload(gateway, 'refuse', file)).toMatchObject([
        { type: 'tested', ...common, success: false, status: 'InvalidMimeType' },
      ]);
      expect(await count(gateway)).toBe(0);
    });

    test('a file that another handler has stored is ignored', async () => {
      const gateway = await start();
      expect(await upload(gateway, 'ignore', file)).toMatchObject([
        { type: 'other', status: 'Ok' },
        { type: 'tested', ...common, success: false, status: 'Ignored' },
      ]);
      expect(await count(gateway)).toBe(0);
    });

    test('a call that fails leaves nothing', async () => {
      const gateway = await start();
      const answer = await gateway.send('POST /api/fail', { body: form(file, file) });
      expect(problem(answer)).toMatchObject(problemOf(400, { code: '22012' }));
      expect(await count(gateway)).toBe(0);
    });

    test('a file past the limit leaves nothing', async () => {
      const gateway = await start();
      const large = Buffer.concat([Buffer.from(file[1]), Buffer.alloc(1_000_000, '\n')]);
      const answer = await gateway.send('POST /api/store', { body: form(file, [file[0], large, file[2] ?? '']) });
      expect(problem(answer)).toMatchObject(problemOf(413));
      expect(await count(gateway)).toBe(0);
    });

    test('a client that leaves in the middle of a file leaves nothing, and no open file', async () => {
      const gateway = await start();
      await upload(gateway, 'refuse', file);
      const before = openFiles();
      const slow = beginUpload(gateway, '/api/store');
      slow.write(fileHead(file[0], file[2]));
      slow.write(Buffer.from(file[1]).subarray(0, 8));
      await expect.poll(() => gateway.database.query('select 1').then(() => slow.socket.writableLength)).toBe(0);
      slow.socket.destroy();
      await expect.poll(() => count(gateway)).toBe(0);
      // Connections of earlier tests in the process may close meanwhile.
      await expect.poll(openFiles).toBeLessThanOrEqual(before);
    });
  });
}

/** The number of open regular files of this process; 0 where the system does not tell. */
function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
