import { randomBytes } from 'node:crypto';
import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import type { TokenEncryption } from '../auth-schemes/keys/key-ring.ts';

export interface SealedBroadcastOptions {
  /** Of a key ring that all instances share. */
  readonly encryption: TokenEncryption;
  /** Told of messages that were dropped because they could not be opened; at most once a minute, with their number. */
  readonly refused: (count: number) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** What travels encrypted. */
interface Message {
  readonly sender: string;
  /** Increases with every message of the sender. */
  readonly number: number;
  readonly topic: string;
  readonly payload: string;
  /** The sender has dropped messages before this one. */
  readonly lost: boolean;
}

const purpose = 'broadcast';
/** Seconds; the clocks of instances may differ by less. */
const lifetime = 300;
/** Characters: a message of 2 MiB, which is the longest that is carried. */
const longestToken = 4 * 1024 * 1024;
/** Messages that may wait to be encrypted or decrypted. */
const mostWaiting = 10_000;
/** Senders whose numbers are remembered. */
const mostSenders = 1_000;
const reportEvery = 60_000;

/**
 * Encrypts and authenticates every message (JWE with AES-256-GCM): who can only reach the channel reads none, makes none, and repeats
 * none. What cannot be opened is dropped.
 */
export function sealedBroadcast(inner: Broadcast, options: SealedBroadcastOptions): Broadcast {
  return new SealedBroadcast(inner, options);
}

class SealedBroadcast implements Broadcast {
  readonly #inner: Broadcast;
  readonly #options: Required<SealedBroadcastOptions>;
  readonly #sender = randomBytes(12).toString('base64url');
  readonly #sending = new Queue();
  #number = 0;
  #lost = false;
  #refused = 0;
  #reportedAt = -Infinity;

  constructor(inner: Broadcast, options: SealedBroadcastOptions) {
    this.#inner = inner;
    this.#options = { now: Date.now, ...options };
  }

  publish(topic: string, payload: string): void {
    const { encryption, now } = this.#options;
    const message: Message = { sender: this.#sender, number: ++this.#number, topic, payload, lost: this.#lost };
    const expires = Math.floor(now() / 1_000) + lifetime;
    const taken = this.#sending.add(async () => {
      try {
        this.#inner.publish(topic, await encryption.encrypt(purpose, message, expires));
      } catch {
        // The key ring itself reports that there is no key.
        this.#lost = true;
      }
    });
    this.#lost = !taken;
  }

  subscribe(topic: string, hear: (heard: BroadcastEvent) => void): () => void {
    const numbers = new Map<string, number>();
    const queue = new Queue();
    let missed = false;
    let stopped = false;
    const tell = (heard: BroadcastEvent): void => {
      if (!stopped) hear(heard);
    };
    const open = async (token: string): Promise<void> => {
      const message = await this.#open(topic, token, numbers);
      if (message === null) return;
      if (missed || message.lost) tell({ kind: 'gap' });
      missed = false;
      tell({ kind: 'message', payload: message.payload });
    };
    const stop = this.#inner.subscribe(topic, (heard) => {
      const taken = queue.add(async () => {
        if (heard.kind === 'gap') tell(heard);
        else await open(heard.payload);
      });
      missed ||= !taken;
    });
    return () => {
      stopped = true;
      stop();
    };
  }

  health(): string | null {
    return this.#inner.health();
  }

  async close(): Promise<void> {
    await this.#sending.empty();
    await this.#inner.close();
  }

  /** Null for what no instance with these keys has just sent on this topic. */
  async #open(topic: string, token: string, numbers: Map<string, number>): Promise<Message | null> {
    const message = (await this.#options.encryption.decrypt(purpose, token, longestToken)) as Message | null;
    const before = message === null ? undefined : numbers.get(message.sender);
    if (message?.topic !== topic || (before !== undefined && message.number <= before)) {
      this.#refuse();
      return null;
    }
    numbers.delete(message.sender);
    numbers.set(message.sender, message.number);
    if (numbers.size > mostSenders) numbers.delete(numbers.keys().next().value!);
    return message;
  }

  #refuse(): void {
    const { now, refused } = this.#options;
    this.#refused++;
    if (now() - this.#reportedAt < reportEvery) return;
    this.#reportedAt = now();
    refused(this.#refused);
    this.#refused = 0;
  }
}

/** Work that is done one piece after the other. */
class Queue {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** False: too much waits already, and this is dropped. */
  add(work: () => Promise<void>): boolean {
    if (this.#waiting >= mostWaiting) return false;
    this.#waiting++;
    this.#last = this.#last.then(work).finally(() => {
      this.#waiting--;
    });
    return true;
  }

  empty(): Promise<void> {
    return this.#last;
  }
}
