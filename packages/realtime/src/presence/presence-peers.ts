import { randomBytes } from 'node:crypto';
import type { PresenceMessage } from '../messages/peer-message.ts';
import type { PresenceDirectory } from './presence-directory.ts';
import type { Presence } from './presence-list.ts';

interface Peer {
  /** The number of its last message. */
  number: number;
  /** By `performance.now()`. */
  seenAt: number;
  askedAt: number;
  /** Presences that its state, of which the first part has arrived, has not repeated yet: topics by reference. */
  unconfirmed: Map<string, string>;
}

/** Milliseconds after which a process that has not told of itself has ended: it was killed, or cannot be reached. */
const timeoutMs = 20_000;
/** Milliseconds between two questions to a process. */
const askIntervalMs = 1_000;
/** Milliseconds until the answer to a question: others may ask meanwhile. */
const answerDelayMs = 20;
/** Characters of the presences in a message with a part of the state. */
const maxPartLength = 100_000;

/** Keeps the presences of all processes of a gateway equal. */
export class PresencePeers {
  /** Identifies this process. */
  readonly process: string = randomBytes(9).toString('base64url');
  readonly #directory: PresenceDirectory;
  readonly #publish: (message: PresenceMessage) => void;
  readonly #peers = new Map<string, Peer>();
  #number = 0;
  #answer: NodeJS.Timeout | null = null;

  constructor(directory: PresenceDirectory, publish: (message: PresenceMessage) => void) {
    this.#directory = directory;
    this.#publish = publish;
    publish({ kind: 'ask', process: null });
  }

  /** Changes the presences of this process. */
  apply(topic: string, joins: readonly Presence[], leaves: readonly string[]): void {
    this.#publish({ kind: 'presence', process: this.process, number: ++this.#number, topic, joins, leaves });
    this.#directory.apply(this.process, topic, joins, leaves);
  }

  receive(message: PresenceMessage): void {
    if (message.kind === 'ask') {
      if (message.process === null || message.process === this.process) this.#scheduleAnswer();
      return;
    }
    const { process } = message;
    if (process === this.process) return;
    if (message.kind === 'end') return this.#remove(process);
    const peer = this.#peers.get(process) ?? { number: 0, seenAt: 0, askedAt: -Infinity, unconfirmed: new Map() };
    this.#peers.set(process, peer);
    peer.seenAt = performance.now();
    if (message.kind === 'state') return this.#receiveState(peer, message);
    const expected = message.kind === 'presence' ? peer.number + 1 : peer.number;
    if (message.number !== expected) this.#ask(process, peer);
    if (message.kind === 'alive') return;
    peer.number = message.number;
    this.#directory.apply(process, message.topic, message.joins, message.leaves);
  }

  /** Messages may be lost. */
  gap(): void {
    this.#publish({ kind: 'ask', process: null });
    this.#scheduleAnswer();
  }

  /** Tells the others that this process runs, and forgets those that do not any more. Called every few seconds. */
  check(): void {
    if (this.#number > 0) this.#publish({ kind: 'alive', process: this.process, number: this.#number });
    const oldest = performance.now() - timeoutMs;
    for (const [process, { seenAt }] of this.#peers) if (seenAt < oldest) this.#remove(process);
  }

  close(): void {
    if (this.#answer !== null) clearTimeout(this.#answer);
    if (this.#number > 0) this.#publish({ kind: 'end', process: this.process });
  }

  #receiveState(peer: Peer, message: Extract<PresenceMessage, { readonly kind: 'state' }>): void {
    const { process, number, presences, isFirst, isLast } = message;
    if (isFirst) {
      peer.unconfirmed.clear();
      for (const [topic, own] of this.#directory.ofProcess(process))
        for (const ref of own.keys()) peer.unconfirmed.set(ref, topic);
    }
    for (const [topic, joins] of presences) {
      for (const { ref } of joins) peer.unconfirmed.delete(ref);
      this.#directory.apply(process, topic, joins, []);
    }
    if (!isLast) return;
    peer.number = number;
    for (const [ref, topic] of peer.unconfirmed) this.#directory.apply(process, topic, [], [ref]);
    peer.unconfirmed.clear();
  }

  #ask(process: string, peer: Peer): void {
    const now = performance.now();
    if (now - peer.askedAt < askIntervalMs) return;
    peer.askedAt = now;
    this.#publish({ kind: 'ask', process });
  }

  #scheduleAnswer(): void {
    this.#answer ??= setTimeout(() => {
      this.#answer = null;
      this.#sendState();
    }, answerDelayMs);
  }

  #sendState(): void {
    let part: (readonly [string, Presence[]])[] = [];
    let length = 0;
    let isFirst = true;
    const send = (isLast: boolean): void => {
      const { process } = this;
      this.#publish({ kind: 'state', process, number: this.#number, presences: part, isFirst, isLast });
      [part, length, isFirst] = [[], 0, false];
    };
    for (const [topic, presences] of this.#directory.ofProcess(this.process)) {
      for (const presence of presences.values()) {
        if (length > maxPartLength) send(false);
        if (part.at(-1)?.[0] !== topic) part.push([topic, []]);
        part.at(-1)![1].push(presence);
        length += presence.key.length + presence.meta.length;
      }
    }
    send(true);
  }

  #remove(process: string): void {
    this.#peers.delete(process);
    this.#directory.removeProcess(process);
  }
}
