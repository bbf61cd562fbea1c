import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../http/problem.ts';
import type { HeaderList } from '../http/response.ts';
import type { AccessControl } from '../auth/authorize.ts';
import type { Broadcast, Observer } from '../ports/ports.ts';
import { admitReader, type Audience, type EventEndpoint, isOpen, type Privileges } from './subscriber-authorization.ts';
import { packEvent, type StreamEvent, unpackEvent } from './event.ts';
import { bindingOf, digest, executionKey } from './execution-id.ts';
import { type Farewell, joiner, Reader, type ReaderParts } from './reader.ts';
import { ownerKey, type ReaderLimits, Readers } from './readers.ts';
import type { ReplayBounds } from './replay.ts';
import { Stream, type StreamPlan } from './stream.ts';

export interface StreamsOptions {
  readonly access: AccessControl;
  /** Null: calls run under no role of their callers. */
  readonly privileges: Privileges | null;
  readonly broadcast: Broadcast;
  readonly observe: Observer;
  /** Milliseconds. */
  readonly heartbeat: number;
  readonly limits: ReaderLimits;
  readonly replay: ReplayBounds;
  /** The most bytes that may wait for one reader. */
  readonly queueBytes: number;
  /** Of every stream's answer. */
  readonly headers: HeaderList;
}

/** Topics of the broadcast. */
const eventTopic = 'events';
const signOutTopic = 'sign-out';

/** Events that come close together leave together, but never later than this many milliseconds. */
const gather = 10;
/** Heartbeats are spread, so that thousands of readers are not woken at once. */
const turnLength = 250;
const mostTurns = 60;

/** All streams of a gateway, for as long as it lives: readings of the catalog come and go. */
export class Streams {
  readonly headers: HeaderList;
  readonly #options: StreamsOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #readers: Readers;
  readonly #turns: number;
  readonly #touched = new Set<Reader>();
  readonly #unsubscribe: readonly (() => void)[];
  #beating: NodeJS.Timeout | undefined;
  #flushing = false;
  #flushed = 0;
  #closed = false;
  /** Ids are microseconds, of which the last three digits tell instances apart. */
  readonly #mark = Math.floor(Math.random() * 1_000);
  #lastId = 0;
  readonly #firstId: number;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.headers = options.headers;
    this.#turns = Math.min(mostTurns, Math.max(1, Math.floor(options.heartbeat / turnLength)));
    this.#readers = new Readers(options.limits, this.#turns);
    this.#firstId = this.#nextId();
    const { broadcast } = options;
    this.#unsubscribe = [
      broadcast.subscribe(eventTopic, (heard) => {
        if (heard.kind === 'gap') return this.#tellGap();
        const event = unpackEvent(heard.payload);
        if (event !== null) this.deliver(event);
      }),
      broadcast.subscribe(signOutTopic, (heard) => {
        if (heard.kind === 'message') this.#endSession(heard.payload);
      }),
    ];
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** What the catalog says now: streams that are still there go on, the others end. */
  adopt(plans: Iterable<StreamPlan>): void {
    const kept = new Set<string>();
    for (const plan of plans) {
      kept.add(plan.path);
      const known = this.#streams.get(plan.path);
      if (known === undefined) this.#streams.set(plan.path, this.#stream(plan));
      else known.plan = plan;
    }
    for (const [path, stream] of this.#streams) {
      if (kept.has(path)) continue;
      this.#streams.delete(path);
      for (const reader of Array.from(stream.readers)) reader.end('unpublished');
    }
  }

  /** To the readers of every instance. */
  raise(event: StreamEvent): void {
    this.deliver(event);
    this.#options.broadcast.publish(eventTopic, packEvent(event));
  }

  /** To the readers of this instance. */
  deliver(event: StreamEvent): void {
    this.#streams.get(event.path)?.deliver(event);
  }

  /** The readers of a stream of this instance may have missed something. */
  tellGap(path: string): void {
    this.#streams.get(path)?.tellGap('connection-lost');
  }

  /** @throws Problem for somebody who may read none of its events */
  admit({ operations }: StreamPlan, request: GatewayRequest): Promise<Audience> {
    return admitReader(operations, request, this.#options);
  }

  /**
   * @param executionId what the events of `self` are told by; null: none of them is for this reader
   * @throws Problem `no-free-stream` or `too-many-streams`
   */
  join({ path }: StreamPlan, request: GatewayRequest, audience: Audience, executionId: string | null): Reader {
    const stream = this.#streams.get(path);
    if (stream === undefined || this.#closed) throw new Problem('no-free-stream', { headers: ['retry-after', '1'] });
    const { caller } = audience;
    const { claimTypes } = this.#options.access;
    const binding = bindingOf(caller, claimTypes);
    const address = request.remoteAddress;
    this.#readers.requireRoom(ownerKey(caller === null ? null : binding, address), caller !== null);
    const parts: ReaderParts = {
      ...audience,
      request,
      path,
      binding,
      address,
      key: executionId === null ? null : executionKey(executionId, caller, claimTypes),
      session: (caller?.session ?? null) === null ? null : digest(caller!.session!),
      limit: this.#options.queueBytes,
      backlog: 2 * this.#options.replay.bytes,
      gone: (one, why) => this.#gone(one, why),
    };
    const reader = new Reader(parts, stream.place);
    this.#readers.add(reader);
    stream.join(reader, request.header('last-event-id') ?? null);
    this.#beating ??= setInterval(() => this.#beat(), this.#options.heartbeat / this.#turns);
    this.#beating.unref();
    return reader;
  }

  /** Whoever read by the credentials of this session, on any instance, reads no more. */
  endSession(session: string): void {
    this.#endSession(digest(session));
    this.#options.broadcast.publish(signOutTopic, digest(session));
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#unsubscribe) stop();
    for (const reader of this.#readers) reader.end('closing');
    clearInterval(this.#beating);
  }

  #endSession(session: string): void {
    for (const reader of this.#readers.ofSession(session)) reader.end('signed-out');
  }

  #tellGap(): void {
    for (const stream of this.#streams.values()) stream.tellGap('connection-lost');
  }

  #stream(plan: StreamPlan): Stream {
    return new Stream(plan, {
      replay: this.#options.replay,
      claimTypes: this.#options.access.claimTypes,
      nextId: () => this.#nextId(),
      isOurs: (id) => id % 1_000 === this.#mark && id >= this.#firstId && id <= this.#lastId,
      touched: (reader) => this.#touch(reader),
    });
  }

  #nextId(): number {
    this.#lastId = Math.max(this.#lastId + 1_000, Date.now() * 1_000 + this.#mark);
    return this.#lastId;
  }

  #gone(reader: Reader, why: Farewell): void {
    this.#readers.delete(reader);
    this.#touched.delete(reader);
    this.#streams.get(reader.parts.path)?.leave(reader);
    if (why === 'slow') this.#options.observe({ kind: 'stream-dropped', path: reader.parts.path });
    if (this.#readers.size > 0) return;
    clearInterval(this.#beating);
    this.#beating = undefined;
  }

  #touch(reader: Reader): void {
    this.#touched.add(reader);
    if (this.#flushing) return;
    this.#flushing = true;
    const wait = this.#flushed + gather - performance.now();
    if (wait <= 0) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), wait);
  }

  #flush(): void {
    this.#flushing = false;
    this.#flushed = performance.now();
    const join = joiner();
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const reader of touched) reader.flush(join);
  }

  #beat(): void {
    for (const reader of this.#readers.next()) {
      if (reader.stalled) reader.drop();
      else {
        this.#streams.get(reader.parts.path)?.beat(reader);
        void this.#check(reader);
      }
    }
  }

  /** Whoever may not open the stream any more may not go on reading it. */
  async #check(reader: Reader): Promise<void> {
    const plan = this.#streams.get(reader.parts.path)?.plan;
    if (plan === undefined || reader.checking || this.#neverChanges(reader, plan)) return;
    reader.checking = true;
    try {
      const { caller, via, executable } = await this.admit(plan, reader.parts.request);
      if (bindingOf(caller, this.#options.access.claimTypes) !== reader.parts.binding) reader.end('signed-out');
      reader.caller = caller;
      reader.via = via;
      reader.executable = executable;
      reader.unknown = 0;
    } catch (error) {
      this.#notAdmitted(reader, error);
    }
    reader.checking = false;
  }

  /** A stream that is open to an anonymous reader stays so, as long as no role decides. */
  #neverChanges({ caller }: Reader, { operations }: StreamPlan): boolean {
    return caller === null && this.#options.privileges === null && isOpen(operations);
  }

  /** A database that cannot be asked for a moment ends nobody's session; one that stays away must not lengthen it. */
  #notAdmitted(reader: Reader, error: unknown): void {
    const refused = error instanceof Problem && error.status < 500;
    reader.unknown++;
    if (refused || reader.unknown > 1) reader.end('signed-out');
  }
}

/** The streams of these endpoints, by every way to write the path of one in a request. */
export function streamsOf(operations: readonly EventEndpoint[]): ReadonlyMap<string, StreamPlan> {
  const plans = new Map<string, EventEndpoint[]>();
  for (const operation of operations) {
    const { events } = operation.endpoint;
    if (events === null) continue;
    const there = plans.get(events.path);
    if (there === undefined) plans.set(events.path, [operation]);
    else there.push(operation);
  }
  return new Map(
    [...plans].flatMap(([path, own]) => {
      const plan: StreamPlan = { path, operations: own };
      return [path, encodeURI(path)].flatMap((form) => [[form, plan] as const, [`${form}/`, plan] as const]);
    }),
  );
}
