import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../http/problem.ts';
import type { HeaderList } from '../http/response.ts';
import type { AccessControl } from '../auth/authorize.ts';
import type { Broadcast, Observer } from '../ports/ports.ts';
import type { EventLog, LogContent, LogEntry, LogSnapshot } from '../ports/event-log.ts';
import { sha256, toExecutionKey, toIdentityKey } from './execution-id.ts';
import type { Feed } from './feed.ts';
import type { ReplayLimits } from './replay-buffer.ts';
import { parseEvent, serializeEvent, type StreamEvent } from './stream-event.ts';
import { Stream, type StreamDefinition, type StreamOptions } from './stream.ts';
import {
  allowsAnonymous,
  type AuthorizedCaller,
  authorizeSubscriber,
  type PrivilegeChecker,
} from './subscriber-authorization.ts';
import { type SubscriberLimits, SubscriberRegistry, toQuotaKey } from './subscriber-registry.ts';
import { createCachedConcat, type DisconnectReason, Subscriber, type SubscriberOptions } from './subscriber.ts';

export interface EventStreamsOptions {
  readonly access: AccessControl;
  /** Null: calls do not change the database role. */
  readonly privileges: PrivilegeChecker | null;
  readonly broadcast: Broadcast;
  readonly observe: Observer;
  /** Milliseconds. */
  readonly heartbeat: number;
  readonly limits: SubscriberLimits;
  readonly replay: ReplayLimits;
  /** Most bytes in the queue of one subscriber. */
  readonly maxQueuedBytes: number;
  /** Response headers of every stream. */
  readonly headers: HeaderList;
}

/** The use of the event streams of this process. */
export interface StreamStatistics {
  /** Open streams. */
  readonly open: number;
  /** Streams that were opened, since the start. */
  readonly opened: number;
  /** Events that were sent, one for each receiver, since the start. */
  readonly messages: number;
  /** Streams that were closed because their clients read too slowly, since the start. */
  readonly dropped: number;
}

/** Topics of the broadcast. */
const eventTopic = 'events';
const signOutTopic = 'sign-out';

/** Milliseconds that ids of a log may be ahead of the clock. */
const clockStepMs = 60_000;

/** Milliseconds between two flushes: events in between are written together. */
const flushInterval = 10;
/** Heartbeats are spread over slots, at least this many milliseconds apart. */
const minSlotInterval = 250;
const maxSlots = 60;

/** All event streams of a gateway. A refresh of the catalog updates the definitions and keeps the subscribers. */
export class EventStreams {
  readonly headers: HeaderList;
  readonly #options: EventStreamsOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #subscribers: SubscriberRegistry;
  readonly #slotCount: number;
  /** Subscribers with queued bytes. */
  readonly #unflushed = new Set<Subscriber>();
  readonly #unsubscribe: readonly (() => void)[];
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #flushScheduled = false;
  #lastFlush = 0;
  #closed = false;
  /** The last three digits of this instance's event ids; the digits before are microseconds. */
  #idSuffix: number = Math.floor(Math.random() * 1_000);
  #lastId = 0;
  #firstId: number;
  /** Null: this instance numbers its events itself. */
  #log: EventLog | null = null;
  /** Entries of the log before the first definitions; null afterwards. */
  #restored: { readonly floors: Map<string, number>; readonly entries: LogEntry[] } | null = null;
  readonly #counts = { opened: 0, messages: 0, dropped: 0 };

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.headers = options.headers;
    this.#slotCount = Math.min(maxSlots, Math.max(1, Math.floor(options.heartbeat / minSlotInterval)));
    this.#subscribers = new SubscriberRegistry(options.limits, this.#slotCount);
    this.#firstId = this.#nextId();
    const { broadcast } = options;
    this.#unsubscribe = [
      broadcast.subscribe(eventTopic, (received) => {
        if (received.kind === 'gap') return this.#sendGap();
        const event = parseEvent(received.payload);
        if (event !== null) this.#streams.get(event.path)?.deliver(event);
      }),
      broadcast.subscribe(signOutTopic, (received) => {
        if (received.kind === 'message') this.#endSession(received.payload);
      }),
    ];
  }

  /** Takes order and ids of events from the log of the broadcast, if it has one. */
  async open(): Promise<void> {
    const { broadcast } = this.#options;
    if (broadcast.openLog === undefined) return;
    this.#restored = { floors: new Map(), entries: [] };
    this.#log = await broadcast.openLog(eventTopic, {
      restore: (snapshot) => this.#restore(snapshot),
      receive: (entry) => this.#receive(entry),
    });
  }

  statistics(): StreamStatistics {
    return { open: this.#subscribers.size, ...this.#counts };
  }

  /** Replaces the definitions. Subscribers of removed streams are disconnected. */
  update(definitions: Iterable<StreamDefinition>): void {
    const paths = new Set<string>();
    for (const definition of definitions) {
      paths.add(definition.path);
      const stream = this.#streams.get(definition.path);
      if (stream === undefined) this.#streams.set(definition.path, this.#createStream(definition));
      else stream.definition = definition;
    }
    const { entries } = this.#restored ?? { entries: [] };
    this.#restored = null;
    for (const entry of entries) this.#receive(entry);
    for (const [path, stream] of this.#streams) {
      if (paths.has(path)) continue;
      this.#streams.delete(path);
      for (const subscriber of Array.from(stream.subscribers)) subscriber.end('unpublished');
    }
  }

  /** Sends an event to the subscribers of every instance. */
  publish(event: StreamEvent): void {
    if (this.#log !== null) return this.#append(event.path, event, false);
    this.#streams.get(event.path)?.deliver(event);
    this.#options.broadcast.publish(eventTopic, serializeEvent(event));
  }

  /** Sends an event that every instance has, as a notification of the database, to the subscribers of this instance. */
  deliver(event: StreamEvent): void {
    if (this.#log !== null) return this.#append(event.path, event, true);
    this.#streams.get(event.path)?.deliver(event);
  }

  /** Reports to the subscribers of a stream, on this instance, that events may be missing. */
  deliverGap(path: string): void {
    if (this.#log !== null) this.#log.append(path, { gap: 'connection-lost' }, true);
    else this.#streams.get(path)?.sendGap('connection-lost');
  }

  /** @throws Problem 401 or 403 for a caller that may receive no event of the stream */
  authorize({ endpoints }: StreamDefinition, request: GatewayRequest): Promise<AuthorizedCaller> {
    return authorizeSubscriber(endpoints, request, this.#options);
  }

  /**
   * @param executionId selects the events of scope `self`; null: none of them
   * @throws Problem `no-free-stream` or `too-many-streams`
   */
  subscribe(
    { path }: StreamDefinition,
    request: GatewayRequest,
    authorized: AuthorizedCaller,
    executionId: string | null,
  ): Subscriber {
    const stream = this.#streams.get(path);
    if (stream === undefined || this.#closed) throw new Problem('no-free-stream', { headers: ['retry-after', '1'] });
    const { claimTypes } = this.#options.access;
    const executionKey = executionId === null ? null : toExecutionKey(executionId, authorized.caller, claimTypes);
    const own = { request, path, executionKey, maxReplayBytes: 2 * this.#options.replay.bytes };
    const subscriber = this.#add(authorized, own, stream.lastEventId);
    stream.add(subscriber, request.header('last-event-id') ?? null);
    return subscriber;
  }

  #add(
    authorized: AuthorizedCaller,
    own: Pick<SubscriberOptions, 'request' | 'path' | 'executionKey' | 'maxReplayBytes' | 'feed'>,
    lastEventId: number,
  ): Subscriber {
    const { caller } = authorized;
    const identityKey = toIdentityKey(caller, this.#options.access.claimTypes);
    const address = own.request.remoteAddress;
    this.#subscribers.checkLimits(toQuotaKey(caller === null ? null : identityKey, address), caller !== null);
    const options: SubscriberOptions = {
      ...authorized,
      ...own,
      identityKey,
      address,
      sessionHash: (caller?.session ?? null) === null ? null : sha256(caller!.session!),
      maxQueuedBytes: this.#options.maxQueuedBytes,
      onDisconnect: (disconnected, reason) => this.#remove(disconnected, reason),
    };
    const subscriber = new Subscriber(options, lastEventId);
    this.#subscribers.add(subscriber);
    this.#counts.opened++;
    this.#heartbeatTimer ??= setInterval(() => this.#sendHeartbeats(), this.#options.heartbeat / this.#slotCount);
    this.#heartbeatTimer.unref();
    return subscriber;
  }

  /** @throws Problem `no-free-stream` or `too-many-streams` */
  openFeed(feed: Feed, maxReplayBytes: number): Subscriber {
    if (this.#closed) throw new Problem('no-free-stream', { headers: ['retry-after', '1'] });
    const authorized = { caller: feed.caller, endpointScheme: null, executable: null };
    return this.#add(authorized, { ...feed, feed, executionKey: null, maxReplayBytes }, 0);
  }

  /** @param events the number of events in the bytes */
  sendToFeed(subscriber: Subscriber, bytes: Uint8Array, events: number): void {
    subscriber.push(bytes);
    this.#counts.messages += events;
    this.#requestFlush(subscriber);
  }

  /** Ends the feeds whose endpoint a refresh has removed or changed. */
  endFeeds(isCurrent: (feed: Feed) => boolean): void {
    for (const subscriber of this.#subscribers) {
      const { feed } = subscriber.options;
      if (feed !== undefined && !isCurrent(feed)) subscriber.end('unpublished');
    }
  }

  /** Disconnects the subscribers of a session, on every instance, or on this one if each of them calls it. */
  endSession(session: string, scope: 'all' | 'own' = 'all'): void {
    const sessionHash = sha256(session);
    this.#endSession(sessionHash);
    if (scope === 'all') this.#options.broadcast.publish(signOutTopic, sessionHash);
  }

  /** Ends all streams. Later subscriptions are refused. */
  close(): void {
    this.#closed = true;
    this.#log?.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const subscriber of this.#subscribers) subscriber.end('closing');
    clearInterval(this.#heartbeatTimer);
  }

  #endSession(sessionHash: string): void {
    for (const subscriber of this.#subscribers.findBySession(sessionHash)) subscriber.end('signed-out');
  }

  #append(path: string, event: StreamEvent, isNotification: boolean): void {
    const text = serializeEvent(event);
    // Each process would refuse it.
    const content: LogContent = text.length > this.#options.replay.bytes ? { gap: 'too-large' } : { event: text };
    this.#log!.append(path, content, isNotification);
  }

  /** Takes the entries that this process does not have. */
  #restore({ firstId, lastId, floors, entries }: LogSnapshot): void {
    const known = this.#log === null ? firstId : this.#lastId;
    this.#idSuffix = firstId % 1_000;
    this.#firstId = firstId;
    for (const [path, floor] of floors) {
      if (this.#restored !== null) this.#restored.floors.set(path, floor);
      else if (floor > known) this.#streams.get(path)?.sendGap('connection-lost', { id: floor, at: Date.now() });
    }
    for (const entry of entries) if (entry.id > known) this.#receive(entry);
    this.#lastId = lastId;
  }

  #receive(entry: LogEntry): void {
    this.#lastId = Math.max(this.#lastId, entry.id);
    if (this.#restored !== null) return void this.#restored.entries.push(entry);
    const stream = this.#streams.get(entry.path);
    if ('gap' in entry.content) return stream?.sendGap(entry.content.gap, entry);
    const event = parseEvent(entry.content.event);
    if (event !== null) stream?.deliver(event, entry);
  }

  /** Whether this server has assigned the id. Another process may have received the last events of the log earlier. */
  #isOwnId(id: number): boolean {
    const last = this.#log === null ? this.#lastId : Math.max(this.#lastId, (Date.now() + clockStepMs) * 1_000);
    return id % 1_000 === this.#idSuffix && id >= this.#firstId && id <= last;
  }

  #sendGap(): void {
    for (const stream of this.#streams.values()) stream.sendGap('connection-lost');
  }

  #createStream(definition: StreamDefinition): Stream {
    const options: StreamOptions = {
      replay: this.#options.replay,
      claimTypes: this.#options.access.claimTypes,
      nextId: () => this.#nextId(),
      isOwnId: (id) => this.#isOwnId(id),
      requestFlush: (subscriber) => this.#requestFlush(subscriber),
      counts: this.#counts,
    };
    if (this.#log === null) return new Stream(definition, options, this.#nextId());
    // Events before a later definition are in no buffer.
    const lastId =
      this.#restored === null ? this.#lastId : (this.#restored.floors.get(definition.path) ?? this.#firstId);
    return new Stream(definition, options, lastId);
  }

  #nextId(): number {
    this.#lastId = Math.max(this.#lastId + 1_000, Date.now() * 1_000 + this.#idSuffix);
    return this.#lastId;
  }

  #remove(subscriber: Subscriber, reason: DisconnectReason): void {
    const { path, feed } = subscriber.options;
    this.#subscribers.delete(subscriber);
    feed?.closed();
    this.#unflushed.delete(subscriber);
    this.#streams.get(path)?.remove(subscriber);
    if (reason === 'slow') {
      this.#counts.dropped++;
      this.#options.observe({ kind: 'stream-dropped', path });
    }
    if (this.#subscribers.size > 0) return;
    clearInterval(this.#heartbeatTimer);
    this.#heartbeatTimer = undefined;
  }

  #requestFlush(subscriber: Subscriber): void {
    this.#unflushed.add(subscriber);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    const delay = this.#lastFlush + flushInterval - performance.now();
    if (delay <= 0) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), delay);
  }

  #flush(): void {
    this.#flushScheduled = false;
    this.#lastFlush = performance.now();
    const concatenate = createCachedConcat();
    const unflushed = [...this.#unflushed];
    this.#unflushed.clear();
    for (const subscriber of unflushed) subscriber.flush(concatenate);
  }

  #sendHeartbeats(): void {
    for (const subscriber of this.#subscribers.nextSlot()) {
      if (subscriber.checkStalled()) subscriber.drop();
      else {
        const { feed, path } = subscriber.options;
        if (feed === undefined) this.#streams.get(path)?.sendHeartbeat(subscriber);
        else this.sendToFeed(subscriber, feed.heartbeat(), 0);
        void this.#reauthorize(subscriber);
      }
    }
  }

  /** Ends a subscription whose caller may no longer open the stream. */
  async #reauthorize(subscriber: Subscriber): Promise<void> {
    const { feed, path } = subscriber.options;
    if (feed !== undefined) return this.#reauthorizeFeed(subscriber, feed);
    const definition = this.#streams.get(path)?.definition;
    if (definition === undefined || subscriber.checking || this.#isAlwaysAuthorized(subscriber, definition)) return;
    subscriber.checking = true;
    try {
      const { caller, endpointScheme, executable } = await this.authorize(definition, subscriber.options.request);
      const identityKey = toIdentityKey(caller, this.#options.access.claimTypes);
      if (identityKey !== subscriber.options.identityKey) subscriber.end('signed-out');
      subscriber.caller = caller;
      subscriber.endpointScheme = endpointScheme;
      subscriber.executable = executable;
      subscriber.failedChecks = 0;
    } catch (error) {
      this.#endUnauthorized(subscriber, error);
    }
    subscriber.checking = false;
  }

  async #reauthorizeFeed(subscriber: Subscriber, feed: Feed): Promise<void> {
    if (subscriber.checking) return;
    subscriber.checking = true;
    try {
      if (!(await feed.reauthorize())) subscriber.end('signed-out');
      subscriber.failedChecks = 0;
    } catch (error) {
      this.#endUnauthorized(subscriber, error);
    }
    subscriber.checking = false;
  }

  /** Whether an anonymous subscriber needs no check: the stream is public, and no database role decides. */
  #isAlwaysAuthorized({ caller }: Subscriber, { endpoints }: StreamDefinition): boolean {
    return caller === null && this.#options.privileges === null && allowsAnonymous(endpoints);
  }

  /** One failed check in a row is tolerated: the database may be unreachable for a moment. */
  #endUnauthorized(subscriber: Subscriber, error: unknown): void {
    const refused = error instanceof Problem && error.status < 500;
    subscriber.failedChecks++;
    if (refused || subscriber.failedChecks > 1) subscriber.end('signed-out');
  }
}
