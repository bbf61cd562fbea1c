import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { UploadContext } from '../ports/upload-handler.ts';
import { commentOptions } from './comment-options.ts';
import { commonUploadOptions } from './options.ts';
import { receiveFile } from './receive-files.ts';

test('the cost of the checks is proportional to the size of a file that arrives in small chunks', async () => {
  const chunk = 'thirty bytes without line ends';
  const definitions = commentOptions(commonUploadOptions);
  const options = Object.fromEntries(Object.entries(definitions).map(([name, { default: value }]) => [name, value]));
  let checks = 0;
  let stored = '';
  const handler = {
    checksText: () => {
      checks++;
      return 'lines' as const;
    },
    store: async ({ content }: { readonly content: Readable }) => {
      stored = await text(content);
      return { status: 'Ok' as const };
    },
  };
  const lines = [...Array.from({ length: 20_000 }, () => chunk), '\nend'];
  const content = Readable.from(
    lines.map((line) => Buffer.from(line)),
    { objectMode: true },
  );

  const received = await receiveFile({ fieldName: 'file', fileName: 'a.csv', contentType: 'text/csv', content }, [
    { name: 'test', handler, context: { options } as unknown as UploadContext },
  ]);

  expect(received).toMatchObject({ size: 600_004, results: [[{ status: 'Ok' }]] });
  expect(stored).toBe(lines.join(''));
  expect(checks).toBeLessThan(50);
});
