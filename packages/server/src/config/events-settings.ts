import { z } from 'zod';

const count = (fallback: number, what: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1).max(1_000_000).default(fallback).describe(what);
const bytes = (fallback: number, what: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1024).max(1_073_741_824).default(fallback).describe(what);

/** The section `events`: streams of what routines raise and channels notify. */
export const events = z
  .strictObject({
    heartbeat: z
      .number()
      .min(0.1)
      .max(3_600)
      .default(15)
      .describe(
        'Seconds between two signs of life on a stream; a reader that takes nothing for two of them is cut off.',
      ),
    maxStreams: count(
      10_000,
      'Most streams at a time; one more is answered 503. `limits.maxConnections` counts them too.',
    ),
    maxStreamsPerUser: count(20, 'Most streams of one user who is signed in; one more is answered 429.'),
    maxStreamsPerAddress: count(
      200,
      'Most streams from one address of callers who are not signed in. Behind a proxy, name it in `authentication.trustedProxies`.',
    ),
    maxQueuedBytes: bytes(1_048_576, 'Most bytes that may wait for one reader before it is cut off.'),
    replayEvents: count(1_000, 'Most events of each stream that are kept for readers that come back.'),
    replaySeconds: z.number().min(0).max(86_400).default(60).describe('Seconds that they are kept.'),
    replayBytes: bytes(524_288, 'Most bytes of them, of each stream; also the most that one event may have.'),
    customServerSentEventsResponseHeaders: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        "Headers of every stream's answer, beside `Cache-Control: no-store` and `X-Accel-Buffering: no` or in place of them.",
      ),
    broadcast: z
      .enum(['local', 'postgres', 'redis'])
      .default('local')
      .describe(
        'How several instances share events, refreshes and sign-outs: not at all, by NOTIFY of the database, or by Redis or Valkey.',
      ),
    broadcastChannel: z
      .string()
      .min(1)
      .max(63)
      .default('pgway')
      .describe('The channel of PostgreSQL or Redis that the instances of one gateway share.'),
    redisUrl: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('`redis://user:password@host:6379`, or `rediss://…` with TLS. Needs the package `@redis/client`.'),
  })
  .prefault({})
  .describe('Streams of what routines raise (`info_path`) and channels notify (`listen`).');
