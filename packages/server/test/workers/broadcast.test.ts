import type { Broadcast } from '@pgway/core';
import { describeBroadcast } from '../../../core/test/contracts/broadcast.ts';
import { BroadcastRelay, workerBroadcast } from '../../src/workers/broadcast.ts';
import { type ChannelPair, channelPair } from './channels.ts';

const filler = 'x'.repeat(1024 * 1024);

describeBroadcast('through the primary process', () => {
  const relay = new BroadcastRelay();
  const pairs: ChannelPair[] = [];
  const open = (): Promise<Broadcast> => {
    const pair = channelPair();
    pairs.push(pair);
    relay.add(pair.primary);
    return Promise.resolve(workerBroadcast(pair.worker));
  };
  /** Fills the channels of both directions, so that further messages are dropped. */
  const away = async (): Promise<void> => {
    const noise = await open();
    const workers = pairs.slice(0, -1);
    for (const pair of workers) {
      for (const end of ['primary', 'worker'] as const) {
        pair.hold(end);
        while (pair[end].tell('noise', filler, filler.length));
      }
    }
    // A message that the primary drops.
    noise.publish('noise', '');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  };
  const back = (): Promise<void> => {
    for (const pair of pairs) for (const end of ['primary', 'worker'] as const) pair.release(end);
    return Promise.resolve();
  };
  return Promise.resolve({ open, interrupt: { away, back } });
});
