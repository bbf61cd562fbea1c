import { randomBytes } from 'node:crypto';
import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import type { TokenEncryption } from '../auth-schemes/keys/key-ring.ts';

export interface EncryptedBroadcastOptions {
  /** Of a key ring that all instances share. */
  readonly encryption: TokenEncryption;
  /** Called at most once a minute, with the number of messages that were dropped because their token was rejected. */
  readonly onRejected: (count: number) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The encrypted content. */
interface Message {
  readonly sender: string;
  /** Increases with every message of the sender, against replay. */
  readonly number: number;
  readonly topic: string;
  readonly payload: string;
  /** The sender has dropped messages before this one. */
  readonly lost: boolean;
}

const purpose = 'broadcast';
/** Seconds. Clocks of instances must differ by less. */
const lifetime = 300;
/** Characters: a token with the longest message, 2 MiB. */
const maxTokenLength = 4 * 1024 * 1024;
/** Messages that may wait to be encrypted or decrypted. */
const maxQueueLength = 10_000;
/** Senders whose last message number is remembered. */
const maxSenders = 1_000;
/** Milliseconds. */
const reportInterval = 60_000;

/**
 * Encrypts and authenticates the messages of another broadcast (JWE with AES-256-GCM). Without the keys, a participant of the channel
 * cannot read, forge or replay messages. Messages that cannot be decrypted are dropped.
 */
export function encryptedBroadcast(transport: Broadcast, options: EncryptedBroadcastOptions): Broadcast {
  return new EncryptedBroadcast(transport, options);
}

class EncryptedBroadcast implements Broadcast {
  readonly #transport: Broadcast;
  readonly #options: Required<EncryptedBroadcastOptions>;
  readonly #sender = randomBytes(12).toString('base64url');
  readonly #sending = new TaskQueue();
  #lastNumber = 0;
  #lost = false;
  #rejectedCount = 0;
  #reportedAt = -Infinity;

  constructor(transport: Broadcast, options: EncryptedBroadcastOptions) {
    this.#transport = transport;
    this.#options = { now: Date.now, ...options };
  }

  publish(topic: string, payload: string): void {
    const { encryption, now } = this.#options;
    const message: Message = { sender: this.#sender, number: ++this.#lastNumber, topic, payload, lost: this.#lost };
    const expires = Math.floor(now() / 1_000) + lifetime;
    const accepted = this.#sending.add(async () => {
      try {
        this.#transport.publish(topic, await encryption.encrypt(purpose, message, expires));
      } catch {
        // The key ring reports the missing key itself.
        this.#lost = true;
      }
    });
    this.#lost = !accepted;
  }

  subscribe(topic: string, listener: (event: BroadcastEvent) => void): () => void {
    const lastNumbers = new Map<string, number>();
    const queue = new TaskQueue();
    let dropped = false;
    let unsubscribed = false;
    const notify = (event: BroadcastEvent): void => {
      if (!unsubscribed) listener(event);
    };
    const decryptAndNotify = async (token: string): Promise<void> => {
      const message = await this.#decrypt(topic, token, lastNumbers);
      if (message === null) return;
      if (dropped || message.lost) notify({ kind: 'gap' });
      dropped = false;
      notify({ kind: 'message', payload: message.payload });
    };
    const unsubscribe = this.#transport.subscribe(topic, (event) => {
      const accepted = queue.add(async () => {
        if (event.kind === 'gap') notify(event);
        else await decryptAndNotify(event.payload);
      });
      dropped ||= !accepted;
    });
    return () => {
      unsubscribed = true;
      unsubscribe();
    };
  }

  health(): string | null {
    return this.#transport.health();
  }

  async close(): Promise<void> {
    await this.#sending.drain();
    await this.#transport.close();
  }

  /** Returns null for a token that is invalid, expired, replayed, or of another topic. */
  async #decrypt(topic: string, token: string, lastNumbers: Map<string, number>): Promise<Message | null> {
    const message = (await this.#options.encryption.decrypt(purpose, token, maxTokenLength)) as Message | null;
    const lastNumber = message === null ? undefined : lastNumbers.get(message.sender);
    if (message?.topic !== topic || (lastNumber !== undefined && message.number <= lastNumber)) {
      this.#countRejected();
      return null;
    }
    lastNumbers.delete(message.sender);
    lastNumbers.set(message.sender, message.number);
    if (lastNumbers.size > maxSenders) lastNumbers.delete(lastNumbers.keys().next().value!);
    return message;
  }

  #countRejected(): void {
    const { now, onRejected } = this.#options;
    this.#rejectedCount++;
    if (now() - this.#reportedAt < reportInterval) return;
    this.#reportedAt = now();
    onRejected(this.#rejectedCount);
    this.#rejectedCount = 0;
  }
}

/** Runs asynchronous tasks one by one, also those after one that fails: listeners report their errors themselves. */
class TaskQueue {
  #last: Promise<void> = Promise.resolve();
  #length = 0;

  /** Returns false if the queue is full; the task does not run then. */
  add(task: () => Promise<void>): boolean {
    if (this.#length >= maxQueueLength) return false;
    this.#length++;
    this.#last = this.#last
      .then(task)
      .catch(() => undefined)
      .finally(() => {
        this.#length--;
      });
    return true;
  }

  drain(): Promise<void> {
    return this.#last;
  }
}
