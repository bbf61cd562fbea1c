import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Broadcast } from '../../src/ports/ports.ts';
import { MessageChunker, type ReceivedMessage } from '../../src/broadcast/message-chunker.ts';
import { encryptedBroadcast } from '../../src/broadcast/encrypted-broadcast.ts';
import { localBroadcast, TopicListeners } from '../../src/broadcast/topic-listeners.ts';
import type { TokenEncryption } from '../../src/auth-schemes/keys/key-ring.ts';
import { postgresBroadcast } from '../../src/broadcast/postgres-broadcast.ts';
import { describeBroadcast } from '../contracts/broadcast.ts';
import { open, startProxy } from '../database/support.ts';

const db = useDatabase();

async function closing(broadcast: Promise<Broadcast>): Promise<Broadcast> {
  const opened = await broadcast;
  onTestFinished(() => opened.close());
  return opened;
}

describeBroadcast('PostgreSQL', async () => {
  const proxy = await startProxy(db.connectionString);
  return {
    open: () => {
      const database = open(proxy.connectionString);
      const { query, listen } = { query: database.query.bind(database), listen: database.listen.bind(database) };
      return closing(postgresBroadcast({ channel: 'pgway', query, listen, onHealthChange: () => undefined }));
    },
    interrupt: { away: () => proxy.off(), back: () => proxy.on() },
  };
});

test('the local broadcast carries nothing', async () => {
  localBroadcast.publish('news', 'a');
  localBroadcast.subscribe('news', () => expect.unreachable())();
  expect(localBroadcast.health()).toBe(null);
  await localBroadcast.close();
});

test('a listener that fails gets the next encrypted message', async () => {
  const listeners = new TopicListeners();
  const transport: Broadcast = {
    ...localBroadcast,
    publish: (topic, payload) => listeners.notify({ kind: 'message', topic, payload }),
    subscribe: (topic, listener) => listeners.subscribe(topic, listener),
  };
  const encryption: TokenEncryption = {
    encrypt: (_, payload) => Promise.resolve(JSON.stringify(payload)),
    decrypt: (_, token) => Promise.resolve(JSON.parse(token) as object),
  };
  const broadcast = encryptedBroadcast(transport, { encryption, onRejected: () => expect.unreachable() });
  const received: unknown[] = [];
  broadcast.subscribe('news', (event) => {
    received.push(event);
    if (received.length === 1) throw new Error('the listener fails');
  });
  broadcast.publish('news', 'a');
  broadcast.publish('news', 'b');
  await expect
    .poll(() => received)
    .toEqual([
      { kind: 'message', payload: 'a' },
      { kind: 'message', payload: 'b' },
    ]);
});

describe('message chunks', () => {
  const receiveAll = (chunker: MessageChunker, texts: readonly string[]): readonly ReceivedMessage[] =>
    texts.flatMap((text) => chunker.receive(text));
  const message = (payload: string): ReceivedMessage => ({ kind: 'message', topic: 't', payload });

  test('no chunk exceeds the limit', () => {
    const texts = new MessageChunker(200).split('t', '🐢'.repeat(500))!;
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.every((text) => Buffer.byteLength(text) <= 200 && /^[\x20-\x7e]+$/.test(text))).toBe(true);
    expect(receiveAll(new MessageChunker(200), texts)).toEqual([message('🐢'.repeat(500))]);
  });

  test('a missing chunk loses its message only, and the next message reports the gap', () => {
    const [sender, receiver] = [new MessageChunker(100), new MessageChunker(100)];
    const [one, two, three] = ['a', 'b', 'c'].map((letter) => sender.split('t', letter.repeat(300))!);
    expect(receiveAll(receiver, one!)).toEqual([message('a'.repeat(300))]);
    expect(receiveAll(receiver, two!.toSpliced(1, 1))).toEqual([]);
    expect(receiveAll(receiver, three!)).toEqual([{ kind: 'gap' }, message('c'.repeat(300))]);
  });

  test.each([
    '',
    'x',
    '....',
    `${'a'.repeat(16)}.1.0.1.{`,
    `${'a'.repeat(16)}.1.0.1.["t"]`,
    `${'a'.repeat(16)}.1.5.2.x`,
    `${'a'.repeat(16)}.1.0.999.x`,
  ])('malformed chunks are ignored: %j', (text) => expect(new MessageChunker(100).receive(text)).toEqual([]));
});
