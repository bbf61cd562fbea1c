import { describe, expect, test } from 'vitest';
import type { Broadcast, BroadcastEvent } from '../../src/ports/ports.ts';
import { until } from '../database/support.ts';

/** A broadcast under test, and how to interrupt it. */
export interface BroadcastUnderTest {
  /** Opens another instance. The caller closes it. */
  readonly open: () => Promise<Broadcast>;
  /** Disconnects all instances, and connects them again. */
  readonly interrupt: { readonly away: () => Promise<void>; readonly back: () => Promise<void> };
}

interface Listener {
  readonly heard: BroadcastEvent[];
  readonly messages: readonly string[];
  readonly gaps: number;
}

function listenTo(broadcast: Broadcast, topic: string): Listener {
  const heard: BroadcastEvent[] = [];
  broadcast.subscribe(topic, (one) => void heard.push(one));
  return {
    heard,
    get messages() {
      return heard.flatMap((one) => (one.kind === 'message' ? [one.payload] : []));
    },
    get gaps() {
      return heard.filter(({ kind }) => kind === 'gap').length;
    },
  };
}

/** The contract of every `Broadcast` between instances. */
export function describeBroadcast(name: string, make: () => Promise<BroadcastUnderTest>): void {
  describe(`the contract of broadcasts: ${name}`, () => {
    test('other instances receive messages once and in order; the sender does not', async () => {
      const { open } = await make();
      const [one, other, third] = [await open(), await open(), await open()];
      const heard = [one, other, third].map((broadcast) => listenTo(broadcast, 'news'));
      const sent = Array.from({ length: 500 }, (_, index) => `message ${index}`);
      for (const message of sent) one.publish('news', message);
      await until('they have received all', () => heard[1]!.messages.length >= 500 && heard[2]!.messages.length >= 500);
      other.publish('news', 'answer');
      await until('both have received it', () => heard[0]!.messages.length > 0 && heard[2]!.messages.length > 500);
      expect(heard.map(({ messages }) => messages)).toEqual([['answer'], sent, [...sent, 'answer']]);
      expect(heard.map(({ gaps }) => gaps)).toEqual([0, 0, 0]);
      expect([one.health(), other.health()]).toEqual([null, null]);
    });

    test('listeners receive the messages of their topic until they unsubscribe', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const news = listenTo(other, 'news');
      const weather: BroadcastEvent[] = [];
      const stop = other.subscribe('weather', (heard) => void weather.push(heard));
      one.publish('weather', 'rain');
      one.publish('news', 'a');
      await until('both have arrived', () => news.messages.length === 1 && weather.length === 1);
      stop();
      one.publish('weather', 'sun');
      one.publish('news', 'b');
      await until('it has arrived', () => news.messages.length === 2);
      expect([news.messages, weather]).toEqual([['a', 'b'], [{ kind: 'message', payload: 'rain' }]]);
    });

    test('texts of any content and length arrive unchanged', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const heard = listenTo(other, 'ż "topic" \n');
      const texts = [
        '',
        'a\u0000b\r\n\t"\\\'',
        'żółw 🐢 李 \u2028',
        'x'.repeat(7_950),
        '🐢'.repeat(30_000),
        'y'.repeat(500_000),
      ];
      for (const text of texts) one.publish('ż "topic" \n', text);
      await until('all have arrived', () => heard.messages.length === texts.length);
      expect(heard.messages.map((text, index) => text === texts[index])).toEqual(texts.map(() => true));
    });

    test('a message that is too large is a gap for other instances; later messages arrive', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const heard = listenTo(other, 'news');
      one.publish('news', 'z'.repeat(20_000_000));
      one.publish('news', 'small');
      await until('it has arrived', () => heard.messages.length === 1);
      // Receivers cannot notice a loss before the first message of an instance.
      one.publish('news', 'z'.repeat(20_000_000));
      one.publish('news', 'after');
      await until('it has arrived', () => heard.messages.length === 2);
      expect(heard.heard.slice(-2)).toEqual([{ kind: 'gap' }, { kind: 'message', payload: 'after' }]);
    });

    test('an interruption does not throw, is a gap for all instances, and ends', async () => {
      const { open, interrupt } = await make();
      const [one, other] = [await open(), await open()];
      const [heard, back] = [listenTo(other, 'news'), listenTo(one, 'news')];
      one.publish('news', 'before');
      await until('it has arrived', () => heard.messages.length === 1);
      await interrupt.away();
      for (let n = 0; n < 10; n++) one.publish('news', `lost ${n}`);
      await interrupt.back();
      await until('both have a gap', () => heard.gaps > 0 && back.gaps > 0);
      await until('both are healthy', () => one.health() === null && other.health() === null);
      const known = heard.messages.length;
      one.publish('news', 'after');
      await until('it has arrived', () => heard.messages.includes('after'));
      expect(heard.messages[0]).toBe('before');
      expect(heard.messages.slice(known)).toEqual(['after']);
    });

    test('a closed broadcast neither sends nor receives', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const heard = listenTo(other, 'news');
      one.publish('news', 'a');
      await until('it has arrived', () => heard.messages.length === 1);
      await other.close();
      one.publish('news', 'b');
      other.publish('news', 'c');
      await one.close();
      one.publish('news', 'd');
      expect(heard.messages).toEqual(['a']);
    });
  });
}
