import { expect, test } from 'vitest';
import type { Database } from '../postgres/port.ts';
import { UploadSlots } from './upload-slots.ts';

test('an upload that was aborted before it asks for a connection does not wait for one', async () => {
  const slots = new UploadSlots(1, 60_000);
  const database = { size: 2 } as Database;
  const aborted = AbortSignal.abort(new Error('the client disconnected'));
  const { signal } = new AbortController();

  await expect(slots.acquire(database, aborted)).rejects.toThrow('the client disconnected');
  await slots.acquire(database, signal);
  await expect(slots.acquire(database, aborted)).rejects.toThrow('the client disconnected');
});
