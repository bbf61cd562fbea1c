import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { UploadContext } from '../../src/ports/upload-handler.ts';
import { csvHandler } from '../../src/uploads/csv.ts';
import { useUploadDatabase } from './support.ts';

const mebibyte = 1024 * 1024;
const size = 64 * mebibyte;
const db = useUploadDatabase('');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function held(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

test.each([
  ['of many rows', 'select $2'],
  ['whose rows wait for the previous result', 'select coalesce($3::int, 0) + 1, $2'],
])(`a file of ${size / mebibyte} MiB %s needs little memory`, async (_, rowCommand) => {
  const line = Buffer.from(`title,${'x'.repeat(8180)},"a ""b"""\n`);
  const lines = Math.ceil(size / line.length);
  const before = held();
  let most = 0;
  function* content(): Generator<Buffer> {
    const chunk = Buffer.concat(Array.from({ length: 8 }, () => line));
    for (let sent = 0; sent < lines; sent += 8) {
      if (sent % 4096 === 0) most = Math.max(most, held() - before);
      yield Buffer.from(chunk);
    }
  }
  const handler = csvHandler({ rowCommand });
  const options = Object.entries(handler.options!).map(([name, definition]) => [name, definition.default]);
  await db.inTransaction((transaction) => {
    const context = {
      handlerName: 'csv',
      options: Object.fromEntries(options),
      transaction: () => Promise.resolve(transaction),
    } as unknown as UploadContext;
    const file = { fileName: 'a.csv', contentType: 'text/csv', fieldName: 'file', content: Readable.from(content()) };
    return handler.store(file, context);
  });
  expect(most).toBeLessThan(16 * mebibyte);
});
