import type { ClaimTypes } from '../auth/claims.ts';
import type { GapReason, LogEntry } from '../ports/event-log.ts';
import { ReplayBuffer, type ReplayLimits, type SentEvent } from './replay-buffer.ts';
import { formatSseEvent, formatSseId, sseComment, type StreamEvent } from './stream-event.ts';
import { canReceive, type StreamEndpoint } from './subscriber-authorization.ts';
import type { Subscriber } from './subscriber.ts';

/** The endpoints that share the path of a stream. A refresh of the catalog replaces it. */
export interface StreamDefinition {
  readonly path: string;
  readonly endpoints: readonly StreamEndpoint[];
}

/** The id and time of an event that has one already. */
export type EventNumber = Pick<LogEntry, 'id' | 'at'>;

export interface StreamOptions {
  readonly replay: ReplayLimits;
  readonly claimTypes: ClaimTypes;
  /** Returns increasing ids. */
  readonly nextId: () => number;
  /** Whether this server may have assigned the id. */
  readonly isOwnId: (id: number) => boolean;
  readonly requestFlush: (subscriber: Subscriber) => void;
  readonly counts: { messages: number };
}

/** An event stream: its subscribers and its last events. */
export class Stream {
  definition: StreamDefinition;
  readonly subscribers: Set<Subscriber> = new Set();
  readonly #options: StreamOptions;
  readonly #byExecutionKey = new Map<string, Set<Subscriber>>();
  readonly #replay: ReplayBuffer;
  #lastEventId: number;

  /** @param lastEventId an id before the first event of the stream */
  constructor(definition: StreamDefinition, options: StreamOptions, lastEventId: number) {
    this.definition = definition;
    this.#options = options;
    this.#lastEventId = lastEventId;
    this.#replay = new ReplayBuffer(options.replay, this.#lastEventId);
  }

  get lastEventId(): number {
    return this.#lastEventId;
  }

  /** @param lastEventId the `Last-Event-ID` of a client that reconnects; null: its first connection */
  add(subscriber: Subscriber, lastEventId: string | null): void {
    this.subscribers.add(subscriber);
    const { executionKey } = subscriber;
    if (executionKey !== null)
      this.#byExecutionKey.set(executionKey, (this.#byExecutionKey.get(executionKey) ?? new Set()).add(subscriber));
    if (lastEventId === null) subscriber.push(formatSseId(this.#lastEventId));
    else this.#replayTo(subscriber, lastEventId);
    // Another process of this server may have sent later events.
    subscriber.lastEventId = Math.max(this.#lastEventId, this.#parseId(lastEventId) ?? 0);
  }

  remove(subscriber: Subscriber): void {
    this.subscribers.delete(subscriber);
    const { executionKey } = subscriber;
    const sameKey = executionKey === null ? undefined : this.#byExecutionKey.get(executionKey);
    if (sameKey?.delete(subscriber) === true && sameKey.size === 0) this.#byExecutionKey.delete(executionKey!);
  }

  deliver(event: StreamEvent, { id, at }: EventNumber = this.#nextNumber()): void {
    const endpoint = this.#findEndpoint(event);
    if (endpoint === undefined) return;
    const bytes = formatSseEvent(id, event.message);
    if (bytes.length > this.#options.replay.bytes) return this.sendGap('too-large', { id, at });
    this.#record({ id, bytes, event }, at);
    const { claimTypes, requestFlush, counts } = this.#options;
    for (const subscriber of this.#selectSubscribers(event)) {
      if (subscriber.lastEventId >= id || !canReceive(event, subscriber, endpoint, claimTypes)) continue;
      subscriber.push(bytes);
      subscriber.lastEventId = id;
      counts.messages++;
      requestFlush(subscriber);
    }
  }

  /** Sends the event `gap` to every subscriber: events may be missing. */
  sendGap(reason: GapReason, { id, at }: EventNumber = this.#nextNumber()): void {
    const bytes = formatSseEvent(id, reason, 'gap');
    this.#record({ id, bytes, event: 'gap' }, at);
    for (const subscriber of this.subscribers) {
      if (subscriber.lastEventId >= id) continue;
      subscriber.push(bytes);
      subscriber.lastEventId = id;
      this.#options.requestFlush(subscriber);
    }
  }

  /** Sends a comment, with the last event id if events of other subscribers have passed. */
  sendHeartbeat(subscriber: Subscriber): void {
    subscriber.push(subscriber.lastEventId >= this.#lastEventId ? sseComment : formatSseId(this.#lastEventId));
    subscriber.lastEventId = Math.max(subscriber.lastEventId, this.#lastEventId);
    this.#options.requestFlush(subscriber);
  }

  #findEndpoint({ endpointId }: StreamEvent): StreamEndpoint | undefined {
    return this.definition.endpoints.find(({ endpoint }) => endpoint.id === endpointId);
  }

  #selectSubscribers({ scope, executionKey }: StreamEvent): Iterable<Subscriber> {
    if (scope.kind !== 'self') return this.subscribers;
    return executionKey === null ? [] : (this.#byExecutionKey.get(executionKey) ?? []);
  }

  #record(sent: SentEvent, at: number): void {
    this.#lastEventId = sent.id;
    this.#replay.add(sent, at);
  }

  #nextNumber(): EventNumber {
    return { id: this.#options.nextId(), at: Date.now() };
  }

  /** Returns null for a text that is not an id of this server. */
  #parseId(text: string | null): number | null {
    const id = text !== null && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return this.#options.isOwnId(id) ? id : null;
  }

  /** Queues the buffered events since the id, by the current authorization. */
  #replayTo(subscriber: Subscriber, lastEventId: string): void {
    const id = this.#parseId(lastEventId);
    const { floor } = this.#replay;
    subscriber.push(sseComment);
    if (id === null || id < floor)
      subscriber.push(formatSseEvent(id === null ? this.#lastEventId : floor, 'too-long-away', 'gap'));
    for (const sent of id === null ? [] : this.#replay.after(id)) {
      if (this.#canReplay(subscriber, sent)) subscriber.push(sent.bytes);
    }
  }

  #canReplay(subscriber: Subscriber, { event }: SentEvent): boolean {
    if (event === 'gap') return true;
    const endpoint = this.#findEndpoint(event);
    return endpoint !== undefined && canReceive(event, subscriber, endpoint, this.#options.claimTypes);
  }
}
