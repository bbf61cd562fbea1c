import { describe, expect, test } from 'vitest';
import type { Broadcast, BroadcastEvent } from '../../src/ports/ports.ts';
import { until } from '../database/support.ts';

/** What carries messages between instances, and how it can be interrupted. */
export interface BroadcastUnderTest {
  /** Another instance; closed by whoever made it. */
  readonly open: () => Promise<Broadcast>;
  /** Cuts all instances off, and brings them together again. */
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

/** What every `Broadcast` that reaches others keeps. */
export function describeBroadcast(name: string, make: () => Promise<BroadcastUnderTest>): void {
  describe(`the contract of broadcasts: ${name}`, () => {
    test('others hear, once and in order; the one that speaks does not', async () => {
      const { open } = await make();
      const [one, other, third] = [await open(), await open(), await open()];
      const heard = [one, other, third].map((broadcast) => listenTo(broadcast, 'news'));
      const sent = Array.from({ length: 500 }, (_, index) => `message ${index}`);
      for (const message of sent) one.publish('news', message);
      await until('they have heard', () => heard[1]!.messages.length >= 500 && heard[2]!.messages.length >= 500);
      other.publish('news', 'answer');
      await until('both have heard', () => heard[0]!.messages.length > 0 && heard[2]!.messages.length > 500);
      expect(heard.map(({ messages }) => messages)).toEqual([['answer'], sent, [...sent, 'answer']]);
      expect(heard.map(({ gaps }) => gaps)).toEqual([0, 0, 0]);
      expect([one.health(), other.health()]).toEqual([null, null]);
    });

    test('a topic is heard by those who listen to it, until they stop', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const news = listenTo(other, 'news');
      const weather: BroadcastEvent[] = [];
      const stop = other.subscribe('weather', (heard) => void weather.push(heard));
      one.publish('weather', 'rain');
      one.publish('news', 'a');
      await until('both are heard', () => news.messages.length === 1 && weather.length === 1);
      stop();
      one.publish('weather', 'sun');
      one.publish('news', 'b');
      await until('it is heard', () => news.messages.length === 2);
      expect([news.messages, weather]).toEqual([['a', 'b'], [{ kind: 'message', payload: 'rain' }]]);
    });

    test('any text of any length arrives as it was', async () => {
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

    test('what cannot be carried is told as a gap to the others, and what follows arrives', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const heard = listenTo(other, 'news');
      one.publish('news', 'z'.repeat(20_000_000));
      one.publish('news', 'small');
      await until('it has heard', () => heard.messages.length === 1);
      // The first message of an instance has nothing before it that could be missed.
      one.publish('news', 'z'.repeat(20_000_000));
      one.publish('news', 'after');
      await until('it has heard', () => heard.messages.length === 2);
      expect(heard.heard.slice(-2)).toEqual([{ kind: 'gap' }, { kind: 'message', payload: 'after' }]);
    });

    test('away and back: nothing throws, everybody is told of the gap, and it goes on', async () => {
      const { open, interrupt } = await make();
      const [one, other] = [await open(), await open()];
      const [heard, back] = [listenTo(other, 'news'), listenTo(one, 'news')];
      one.publish('news', 'before');
      await until('it is heard', () => heard.messages.length === 1);
      await interrupt.away();
      for (let n = 0; n < 10; n++) one.publish('news', `lost ${n}`);
      await interrupt.back();
      await until('both know that something was missed', () => heard.gaps > 0 && back.gaps > 0);
      await until('all is well again', () => one.health() === null && other.health() === null);
      const known = heard.messages.length;
      one.publish('news', 'after');
      await until('it is heard', () => heard.messages.includes('after'));
      expect(heard.messages[0]).toBe('before');
      expect(heard.messages.slice(known)).toEqual(['after']);
    });

    test('closed, it says and hears nothing more', async () => {
      const { open } = await make();
      const [one, other] = [await open(), await open()];
      const heard = listenTo(other, 'news');
      one.publish('news', 'a');
      await until('it is heard', () => heard.messages.length === 1);
      await other.close();
      one.publish('news', 'b');
      other.publish('news', 'c');
      await one.close();
      one.publish('news', 'd');
      expect(heard.messages).toEqual(['a']);
    });
  });
}
