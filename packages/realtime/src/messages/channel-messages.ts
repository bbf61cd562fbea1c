import { randomUUID } from 'node:crypto';
import type { ChangeIdentity } from '@pgway/core/internal';
import { maxPresenceBytes, maxReplayBytes, policyIntervalMs } from '../limits.ts';
import { isObject, type Version } from '../message.ts';
import type { Presence } from '../presence/presence-list.ts';
import { Refusal } from '../refusal.ts';
import { type BroadcastMessage, parseBroadcast, toJson } from './broadcast-message.ts';
import { broadcastFrame, type Frame } from './frame.ts';
import type { ReplayRequest } from './message-history.ts';
import type { MessageHub } from './message-hub.ts';
import type { Permissions } from './policies.ts';
import type { Topic } from './topic.ts';
import type { Member } from './topics.ts';

/** What a join asks for besides changes of rows. */
export interface MessageConfig {
  readonly isPrivate: boolean;
  /** Whether the client gets its own broadcasts. */
  readonly receivesOwn: boolean;
  /** Whether the client waits for a reply to its broadcasts. */
  readonly acknowledges: boolean;
  /** Empty: the server makes one. */
  readonly presenceKey: string;
  /** Null: the client does not say it. Older ones want the presences of each channel. */
  readonly wantsPresence: boolean | null;
  /** Null: the client wants no earlier messages. */
  readonly replay: ReplayRequest | null;
}

/** The connection of the channel. */
export interface MessageConnection {
  readonly version: Version;
  readonly hub: MessageHub;
  readonly allowsPublicChannels: boolean;
  /** Returns what the limits of a caller count by. */
  callerKey(identity: ChangeIdentity): string;
  readPermissions(identity: ChangeIdentity, topic: string): Promise<Permissions>;
  /** Returns messages of the database that were sent before. */
  readHistory(identity: ChangeIdentity, topic: string, request: ReplayRequest): Promise<readonly BroadcastMessage[]>;
  sendFrame(frame: Frame): void;
}

const all: Permissions = {
  receivesBroadcasts: true,
  receivesPresence: true,
  sendsBroadcasts: true,
  sendsPresence: true,
};
const none: Permissions = {
  receivesBroadcasts: false,
  receivesPresence: false,
  sendsBroadcasts: false,
  sendsPresence: false,
};

export const publicChannelsOff =
  'Public channels are not available; join with "private": true, or set realtime.publicChannels';

/** The broadcasts and the presence of a channel. */
export class ChannelMessages implements Member {
  readonly #topic: Topic;
  readonly #config: MessageConfig;
  readonly #connection: MessageConnection;
  readonly #warn: (message: string) => void;
  readonly #presenceKey: string;
  #permissions: Permissions = none;
  #caller: string | null = null;
  /** When the policies were asked, by `performance.now()`. */
  #askedAt = -Infinity;
  #askedFor: string | null = null;
  #isJoined = false;
  #presence: Presence | null = null;
  /** What arrives while earlier messages are read, with its id; null: nothing is held back. */
  #held: { readonly frame: Frame; readonly id: string | null }[] | null = null;
  #heldBytes = 0;
  #earlier: readonly BroadcastMessage[] = [];
  /** The ids of earlier messages, which the log may still announce. */
  #earlierIds: ReadonlySet<string | null> = new Set();

  /** @param warn sends a message of the system */
  constructor(topic: Topic, config: MessageConfig, connection: MessageConnection, warn: (message: string) => void) {
    this.#topic = topic;
    this.#config = config;
    this.#connection = connection;
    this.#warn = warn;
    this.#presenceKey = config.presenceKey === '' ? randomUUID() : config.presenceKey;
  }

  /** What the limits of the caller count by; null before it is known. */
  get caller(): string | null {
    return this.#caller;
  }

  get version(): Version {
    return this.#connection.version;
  }

  get receivesBroadcasts(): boolean {
    return this.#permissions.receivesBroadcasts;
  }

  get receivesPresence(): boolean {
    return this.#isJoined && this.#permissions.receivesPresence && this.#config.wantsPresence !== false;
  }

  send(frame: Frame, id: string | null): void {
    if (id !== null && this.#earlierIds.has(id)) return;
    if (this.#held === null) return this.#connection.sendFrame(frame);
    this.#heldBytes += frame.data.length;
    if (this.#heldBytes <= maxReplayBytes) this.#held.push({ frame, id });
  }

  warn(message: string): void {
    this.#warn(message);
  }

  /**
   * Asks what the caller may do, unless it was answered for the same token before.
   * @param token null: the client has none of its own
   * @param hasChanges whether the channel has changes of rows, which it may have without messages
   * @throws Refusal, DatabaseError, Problem
   */
  async authorize(identity: ChangeIdentity, token: string | null, hasChanges: boolean): Promise<void> {
    this.#caller = this.#connection.callerKey(identity);
    const asked = JSON.stringify([identity.key, token]);
    if (asked === this.#askedFor && performance.now() - this.#askedAt < policyIntervalMs) return;
    const permissions = await this.#readPermissions(identity, hasChanges);
    const couldReceive = this.receivesPresence;
    this.#permissions = permissions;
    this.#askedFor = asked;
    this.#askedAt = performance.now();
    if (!this.#isJoined) return;
    if (this.#presence !== null && !permissions.sendsPresence) this.#untrack();
    if (!couldReceive && this.receivesPresence) this.#sendPresences();
  }

  /** Takes the permissions away if they are so old that the policies should have been asked twice since: they cannot be asked. */
  expire(): void {
    if (!this.#topic.isPrivate || performance.now() - this.#askedAt < 2 * policyIntervalMs) return;
    this.#permissions = none;
    this.#untrack();
  }

  /**
   * Reads the earlier messages that the join asks for, once. Later ones are held back, so that none is missing or out of order.
   * @throws DatabaseError, AcquireTimeout, ConnectionLost
   */
  async readEarlier(identity: ChangeIdentity): Promise<void> {
    const { replay } = this.#config;
    if (replay === null || this.#isJoined || this.#held !== null || !this.receivesBroadcasts) return;
    this.#held = [];
    this.#connection.hub.topics.join(this.#topic, this);
    this.#earlier = await this.#connection.readHistory(identity, this.#topic.name, replay);
    this.#earlierIds = new Set(this.#earlier.map(({ id }) => id));
  }

  /** Begins to receive, after the reply to the join. */
  joined(): void {
    this.#isJoined = true;
    const { hub } = this.#connection;
    if (this.receivesPresence) this.#sendPresences();
    else if (this.#config.wantsPresence === true) this.#warn('You may not see who is present in this channel');
    this.#sendEarlier();
    hub.topics.join(this.#topic, this);
  }

  #sendEarlier(): void {
    const held = this.#held ?? [];
    this.#held = null;
    let freeBytes = maxReplayBytes;
    for (const message of this.#earlier) {
      const frame = broadcastFrame(this.#topic.name, message).in(this.version);
      if (frame === null) continue;
      freeBytes -= frame.data.length;
      this.#connection.sendFrame(frame);
    }
    this.#earlier = [];
    const later = held.filter(({ id }) => id === null || !this.#earlierIds.has(id));
    for (const { frame } of later) {
      freeBytes -= frame.data.length;
      // None after a missing one: the order tells the client what it has.
      if (freeBytes < 0) break;
      this.#connection.sendFrame(frame);
    }
    const isMissing = this.#heldBytes > maxReplayBytes || (freeBytes < 0 && later.length > 0);
    if (isMissing) this.#warn('Messages may be missing');
  }

  /** @returns whether the client waits for a reply. @throws Refusal */
  broadcast(payload: unknown): boolean {
    const message = parseBroadcast(payload);
    if (!this.#permissions.sendsBroadcasts) throw new Refusal(this.#refusal('send messages in'));
    const { receivesOwn, acknowledges } = this.#config;
    this.#connection.hub.publish(this.#topic, message, receivesOwn ? null : this);
    return acknowledges;
  }

  /** @throws Refusal */
  changePresence(message: unknown): void {
    const { event, payload = {} } = isObject(message) ? message : {};
    const name = typeof event === 'string' ? event.toLowerCase() : '';
    if (name === 'untrack') return this.#untrack();
    if (name !== 'track') throw new Refusal('"event" of presence is track or untrack');
    if (!this.#permissions.sendsPresence) throw new Refusal(this.#refusal('be present in'));
    if (!isObject(payload)) throw new Refusal('"payload" of track is not an object');
    const before = this.#presence?.ref ?? null;
    const ref = randomUUID();
    const references = before === null ? { phx_ref: ref } : { phx_ref: ref, phx_ref_prev: before };
    const meta = toJson({ ...payload, ...references });
    if (Buffer.byteLength(meta) > maxPresenceBytes)
      throw new Refusal(`"payload" of track has more than ${maxPresenceBytes} bytes`);
    const presence = { ref, key: this.#presenceKey, meta };
    this.#connection.hub.track(this.#topic, presence, before, this.#caller!);
    this.#presence = presence;
  }

  leave(): void {
    this.#isJoined = false;
    this.#connection.hub.topics.leave(this.#topic, this);
    this.#untrack();
  }

  async #readPermissions(identity: ChangeIdentity, hasChanges: boolean): Promise<Permissions> {
    const { isPrivate, wantsPresence } = this.#config;
    if (!isPrivate) {
      if (this.#connection.allowsPublicChannels) return all;
      if (hasChanges && wantsPresence !== true) return none;
      throw new Refusal(publicChannelsOff);
    }
    const permissions = await this.#connection.readPermissions(identity, this.#topic.name);
    if (permissions.receivesBroadcasts || permissions.receivesPresence) return permissions;
    throw new Refusal(this.#refusal('join'));
  }

  #refusal(verb: string): string {
    const { name, isPrivate } = this.#topic;
    return isPrivate ? `You may not ${verb} the private channel ${JSON.stringify(name)}` : publicChannelsOff;
  }

  #sendPresences(): void {
    const { hub, version } = this.#connection;
    const frame = hub.presenceState(this.#topic).in(version);
    if (frame !== null) this.#connection.sendFrame(frame);
  }

  #untrack(): void {
    if (this.#presence === null) return;
    this.#connection.hub.untrack(this.#topic, this.#presence.ref);
    this.#presence = null;
  }
}
