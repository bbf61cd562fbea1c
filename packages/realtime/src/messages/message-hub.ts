import type { Broadcast } from '@pgway/core';
import { maxPresences } from '../limits.ts';
import { PresenceDirectory } from '../presence/presence-directory.ts';
import type { Presence } from '../presence/presence-list.ts';
import { PresenceOwners } from '../presence/presence-owners.ts';
import { PresencePeers } from '../presence/presence-peers.ts';
import { PresenceUpdates } from '../presence/presence-updates.ts';
import { Refusal } from '../refusal.ts';
import type { BroadcastMessage } from './broadcast-message.ts';
import { broadcastFrame, type SharedFrame, textFrame } from './frame.ts';
import { parsePeerMessage, type PeerMessage } from './peer-message.ts';
import { type Topic, topicKey } from './topic.ts';
import { type Member, Topics } from './topics.ts';

/** The topic of the broadcast between the processes of a gateway. */
const peerTopic = 'realtime';
/** Milliseconds between two messages that this process runs. */
const aliveIntervalMs = 5_000;

/** Broadcasts and presence of all channels, with those of the other processes of the gateway. */
export class MessageHub {
  readonly topics: Topics = new Topics();
  readonly #broadcast: Broadcast | null;
  readonly #directory: PresenceDirectory;
  readonly #updates: PresenceUpdates;
  readonly #peers: PresencePeers;
  readonly #owners = new PresenceOwners();
  /** `presence_state` of topics with presences, since their last change. */
  readonly #states = new Map<string, SharedFrame>();
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Messages of clients that were sent on. */
  messages = 0;

  /**
   * @param broadcast null: there are no other processes
   * @param report logs an unexpected error
   */
  constructor(broadcast: Broadcast | null, report: (error: unknown) => void) {
    this.#broadcast = broadcast;
    this.#updates = new PresenceUpdates((key, payload) => {
      const frame = textFrame(nameOf(key), 'presence_diff', payload);
      this.topics.send(key, frame, null, ({ receivesPresence }) => receivesPresence);
    });
    this.#directory = new PresenceDirectory((change) => {
      this.#states.delete(change.topic);
      this.#updates.add(change);
    });
    this.#unsubscribe =
      broadcast?.subscribe(peerTopic, (event) => {
        // The next messages arrive even though one fails.
        try {
          if (event.kind === 'gap') this.#peers.gap();
          else this.#receive(event.payload);
        } catch (error) {
          report(error);
        }
      }) ?? (() => undefined);
    this.#peers = new PresencePeers(this.#directory, (message) => this.#tell(message));
    this.#timer = setInterval(() => this.#peers.check(), aliveIntervalMs);
    this.#timer.unref();
  }

  get presences(): number {
    return this.#directory.size;
  }

  /** Sends a message to all receivers of a topic but one. */
  publish(topic: Topic, message: BroadcastMessage, sender: Member | null): void {
    this.messages++;
    const { event, payload } = message;
    const isBinary = typeof payload !== 'string';
    const text = isBinary ? Buffer.from(payload).toString('base64') : payload;
    this.#tell({ kind: 'broadcast', topic, event, payload: text, isBinary });
    this.deliver(topic, message, sender);
  }

  /** Sends a message that every process gets to the receivers in this one. */
  deliver(topic: Topic, message: BroadcastMessage, sender: Member | null = null): void {
    const frame = broadcastFrame(topic.name, message);
    this.topics.send(topicKey(topic), frame, message.id, (member) => member.receivesBroadcasts && member !== sender);
  }

  /**
   * Adds a presence of this process in place of an earlier one.
   * @param before a reference; null: there is none
   * @param caller as `callerKey` returns it
   * @throws Refusal for a topic with too many, in all or of the caller
   */
  track(topic: Topic, presence: Presence, before: string | null, caller: string): void {
    const key = topicKey(topic);
    if (before === null && this.#directory.count(key) >= maxPresences)
      throw new Refusal(
        `${maxPresences} clients are present in the channel, which is the maximum; try again later, or use several channels`,
      );
    this.#owners.replace(before, presence.ref, `${caller} ${key}`);
    this.#peers.apply(key, [presence], before === null ? [] : [before]);
  }

  untrack(topic: Topic, ref: string): void {
    this.#owners.remove(ref);
    this.#peers.apply(topicKey(topic), [], [ref]);
  }

  /** Returns the message `presence_state`, after which all changes follow. */
  presenceState(topic: Topic): SharedFrame {
    const key = topicKey(topic);
    this.#updates.flush(key);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const frame = textFrame(topic.name, 'presence_state', this.#directory.state(key));
    if (this.#directory.count(key) > 0) this.#states.set(key, frame);
    return frame;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#peers.close();
    this.#updates.close();
  }

  #tell(message: PeerMessage): void {
    this.#broadcast?.publish(peerTopic, JSON.stringify(message));
  }

  #receive(text: string): void {
    const message = parsePeerMessage(text);
    if (message === null) return;
    if (message.kind !== 'broadcast') return this.#peers.receive(message);
    const { topic, event, payload, isBinary } = message;
    this.deliver(topic, { event, payload: isBinary ? Buffer.from(payload, 'base64') : payload, id: null });
  }
}

/** Returns the name of a topic from what `topicKey` has returned. */
function nameOf(key: string): string {
  return key.slice(key.indexOf(' ') + 1);
}
