import type { Version } from '../message.ts';
import type { Frame, SharedFrame } from './frame.ts';
import { type Topic, topicKey } from './topic.ts';

/** A channel of this process. */
export interface Member {
  readonly version: Version;
  readonly receivesBroadcasts: boolean;
  readonly receivesPresence: boolean;
  /**
   * Sends a frame to the client. Does not throw.
   * @param id that of a message of the database; null: it is another frame
   */
  send(frame: Frame, id: string | null): void;
  /** Tells the client of a problem by a message of the system. Does not throw. */
  warn(message: string): void;
}

/** The channels of this process by their topic. */
export class Topics {
  readonly #members = new Map<string, Set<Member>>();
  /** Frames that clients got, one for each receiver. */
  deliveries = 0;

  join(topic: Topic, member: Member): void {
    const key = topicKey(topic);
    const members = this.#members.get(key) ?? new Set();
    this.#members.set(key, members.add(member));
  }

  leave(topic: Topic, member: Member): void {
    const key = topicKey(topic);
    const members = this.#members.get(key);
    if (members?.delete(member) === true && members.size === 0) this.#members.delete(key);
  }

  /** Whether there are channels. */
  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /**
   * @param key as `topicKey` returns it
   * @param id as `Member.send` has it
   */
  send(key: string, frame: SharedFrame, id: string | null, isReceiver: (member: Member) => boolean): void {
    for (const member of this.#members.get(key) ?? []) {
      if (!isReceiver(member)) continue;
      const written = frame.in(member.version);
      if (written === null) continue;
      this.deliveries++;
      member.send(written, id);
    }
  }

  /** Warns all channels that receive broadcasts. */
  warn(message: string): void {
    for (const members of this.#members.values())
      for (const member of members) if (member.receivesBroadcasts) member.warn(message);
  }
}
