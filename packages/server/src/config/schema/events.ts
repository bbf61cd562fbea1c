import { z } from 'zod';
import { count, optionalText, secret, textMap } from './fields.ts';

const bytes = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1024).max(1_073_741_824).default(byDefault).describe(description);

/** The section `events`: server-sent events. */
export const eventsSection = z
  .strictObject({
    heartbeat: z
      .number()
      .min(0.1)
      .max(3_600)
      .default(15)
      .describe(
        'Seconds between two heartbeats of a stream; a client that reads nothing for two heartbeats is disconnected.',
      ),
    maxStreams: count(
      10_000,
      'Maximum number of open streams; another one is answered 503. `limits.maxConnections` counts them too.',
    ),
    maxStreamsPerUser: count(
      20,
      'Maximum number of open streams of an authenticated user; another one is answered 429.',
    ),
    maxStreamsPerAddress: count(
      200,
      'Maximum number of open streams of unauthenticated callers from one address. Behind a proxy, list the proxy in `authentication.trustedProxies`.',
    ),
    maxQueuedBytes: bytes(1_048_576, 'Maximum bytes queued for one client before it is disconnected.'),
    replayEvents: count(1_000, 'Maximum events of each stream that are kept for clients that reconnect.'),
    replaySeconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(60)
      .describe('Seconds that events are kept for clients that reconnect.'),
    replayBytes: bytes(524_288, 'Maximum bytes of the kept events of each stream, and of a single event.'),
    customServerSentEventsResponseHeaders: textMap(
      'Response headers of every stream, added to `Cache-Control: no-store` and `X-Accel-Buffering: no` or replacing them.',
    ),
    broadcast: z
      .enum(['local', 'postgres', 'redis'])
      .default('local')
      .describe(
        'How several instances share events, refreshes and logouts: not at all, by NOTIFY of the database, or by Redis or Valkey.',
      ),
    broadcastChannel: z
      .string()
      .min(1)
      .max(63)
      .default('pgway')
      .describe('The channel of PostgreSQL or Redis that the instances of one gateway share.'),
    redisUrl: secret(
      optionalText(
        '`redis://user:password@host:6379`, `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel.',
      ),
    ),
  })
  .prefault({})
  .describe('Server-sent events: notices that routines raise (`info_path`) and NOTIFY channels (`listen`).');
