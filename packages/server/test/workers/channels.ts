import { setImmediate } from 'node:timers';
import { Channel, type ChannelPort } from '../../src/workers/channel.ts';

/** Two connected channels in one process. The messages of a held end stay unsent. */
export interface ChannelPair {
  readonly primary: Channel;
  readonly worker: Channel;
  readonly hold: (end: 'primary' | 'worker') => void;
  readonly release: (end: 'primary' | 'worker') => void;
}

class TestPort implements ChannelPort {
  peer!: TestPort;
  #receive: (message: unknown) => void = () => undefined;
  #held: (() => void)[] | null = null;

  send(message: object, done: (error: Error | null) => void): void {
    const copy: unknown = structuredClone(message);
    const deliver = (): void => {
      done(null);
      this.peer.#receive(copy);
    };
    if (this.#held === null) setImmediate(deliver);
    else this.#held.push(deliver);
  }

  receive(listener: (message: unknown) => void): void {
    this.#receive = listener;
  }

  inject(message: unknown): void {
    this.#receive(message);
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const deliver of held) setImmediate(deliver);
  }
}

export function channelPair(): ChannelPair & { readonly inject: (message: unknown) => void } {
  const ports = { primary: new TestPort(), worker: new TestPort() };
  ports.primary.peer = ports.worker;
  ports.worker.peer = ports.primary;
  return {
    primary: new Channel(ports.primary),
    worker: new Channel(ports.worker),
    hold: (end) => ports[end].hold(),
    release: (end) => ports[end].release(),
    inject: (message) => ports.worker.inject(message),
  };
}
