import { expect, test } from 'vitest';
import { channelPair } from './channels.ts';

const megabyte = 1024 * 1024;

test('a question gets the answer of the handler, also a later one', async () => {
  const { primary, worker } = channelPair();
  worker.handle<number>('double', async (value) => {
    await Promise.resolve();
    return value * 2;
  });
  const answers = [1, 2, 3].map((value) => primary.ask<number>('double', value, 1000));
  expect(await Promise.all(answers)).toEqual([2, 4, 6]);
});

test('an error of the handler, an unknown topic, a timeout and an exit reject the question', async () => {
  const { primary, worker, hold } = channelPair();
  worker.handle('fail', () => {
    throw new Error('no disk');
  });
  await expect(primary.ask('fail', null, 1000)).rejects.toThrow('no disk');
  await expect(primary.ask('other', null, 1000)).rejects.toThrow('unknown topic other');
  hold('primary');
  await expect(primary.ask('slow', null, 1)).rejects.toThrow('no answer to slow in 1 ms');
  const open = primary.ask('slow', null, 60_000);
  primary.close();
  await expect(open).rejects.toThrow('the process has exited');
  expect(primary.tell('news')).toBe(false);
});

test('messages of another form are ignored', async () => {
  const { primary, worker, inject } = channelPair();
  const received: unknown[] = [];
  worker.handle('news', (data) => void received.push(data));
  const hostile = [
    null,
    7,
    'ask',
    {},
    { kind: 'ask' },
    { kind: 'tell', topic: 1 },
    { kind: 'answer', id: 9, error: 1 },
  ];
  for (const message of hostile) inject(message);
  inject({ kind: 'answer', id: 99, data: null, error: null });
  primary.tell('news', 'a');
  await expect.poll(() => received).toEqual(['a']);
});

test('an answer that is not sent, because too much is unsent, is an error for the process that has asked', async () => {
  const { primary, worker, hold, release } = channelPair();
  let answers = 0;
  primary.handle('count', () => ++answers);
  hold('primary');
  while (primary.tell('news', null, megabyte));
  const answer = Promise.allSettled([worker.ask('count', null, 60_000)]);
  await expect.poll(() => answers).toBe(1);
  release('primary');
  expect(await answer).toMatchObject([{ status: 'rejected', reason: { message: 'the channel is full' } }]);
});

test('unsent messages are bounded: notifications are dropped, a refused question is reported, and both end', async () => {
  const { primary, worker, hold, release } = channelPair();
  const received: unknown[] = [];
  const events: string[] = [];
  worker.handle('news', (data) => void received.push(data));
  primary.onDrained(() => events.push('drained'));
  primary.onOverflow(() => events.push('overflow'));
  hold('primary');
  const accepted = Array.from({ length: 40 }, (_, index) => primary.tell('news', index, megabyte));
  expect(accepted.filter(Boolean)).toHaveLength(16);
  await expect(primary.ask('news', null, 1000)).rejects.toThrow('the channel is full');
  release('primary');
  await expect.poll(() => received).toHaveLength(16);
  expect(events).toEqual(['overflow', 'drained']);
  expect(primary.tell('news', 'later')).toBe(true);
  await primary.flush();
  await expect.poll(() => received.at(-1)).toBe('later');
});
