import type { Channel } from './channel.ts';

/** Notifications of one topic that must not be lost: those that a full channel refuses are sent when it has room again. */
export class MessageQueue<Item> {
  readonly #channel: Channel;
  readonly #topic: string;
  /** By key: an item replaces an unsent one with its key, which bounds the queue. */
  #items = new Map<string, Item>();

  /** @param topic its data is a list of items */
  constructor(channel: Channel, topic: string) {
    this.#channel = channel;
    this.#topic = topic;
    channel.onDrained(() => this.#send());
  }

  push(key: string, item: Item): void {
    this.#items.set(key, item);
    this.#send();
  }

  #send(): void {
    if (this.#items.size > 0 && this.#channel.tell(this.#topic, [...this.#items.values()])) this.#items = new Map();
  }
}
