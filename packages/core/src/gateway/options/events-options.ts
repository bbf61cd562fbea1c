import type { Broadcast } from '../../ports/ports.ts';

/** Streams of events. */
export interface EventsOptions {
  /** Seconds between two signs of life on a stream; whoever has taken nothing for two of them is cut off. Default 15. */
  readonly heartbeat: number;
  /** The most streams that are open at a time; one more is answered 503. Default 10,000. */
  readonly maxStreams: number;
  /** The most of one user who is signed in; one more is answered 429. Default 20. */
  readonly maxStreamsPerUser: number;
  /** The most from one address of callers who are not signed in; behind a proxy, name it in `trustedProxies`. Default 200. */
  readonly maxStreamsPerAddress: number;
  /** The most bytes that may wait for one reader before it is cut off. Default 1,048,576. */
  readonly maxQueuedBytes: number;
  /** The most events of each stream that are kept for readers that come back. Default 1,000. */
  readonly replayEvents: number;
  /** Seconds that they are kept. Default 60. */
  readonly replaySeconds: number;
  /** Bytes of them, of each stream; also the most that one event may have. Default 524,288. */
  readonly replayBytes: number;
  /** Headers of every stream's answer beside our own, or in place of them. */
  readonly customServerSentEventsResponseHeaders: Readonly<Record<string, string>>;
  /**
   * How instances reach each other: not at all (`local`), by NOTIFY of the main database (`postgres`), by Redis or Valkey
   * (`redis`, which needs the package `@redis/client`), or by a way of the host's, which the host closes. Default `local`.
   */
  readonly broadcast: 'local' | 'postgres' | 'redis' | Broadcast;
  /** The channel of PostgreSQL or Redis that instances of one gateway share. Default `pgway`. */
  readonly broadcastChannel: string;
  /** `redis://user:password@host:6379`, or `rediss://…` with TLS. */
  readonly redisUrl: string | null;
}

export const eventsDefaults: EventsOptions = Object.freeze({
  heartbeat: 15,
  maxStreams: 10_000,
  maxStreamsPerUser: 20,
  maxStreamsPerAddress: 200,
  maxQueuedBytes: 1024 * 1024,
  replayEvents: 1_000,
  replaySeconds: 60,
  replayBytes: 512 * 1024,
  customServerSentEventsResponseHeaders: {},
  broadcast: 'local',
  broadcastChannel: 'pgway',
  redisUrl: null,
});
