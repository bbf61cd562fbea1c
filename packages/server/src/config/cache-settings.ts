import { z } from 'zod';

/** The section `cache`: answers that are kept. */
export const cache = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Keeps answers of endpoints whose comment says `cached`.'),
    maxRows: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(1_000)
      .describe('Most rows of an answer that is kept; larger ones are made anew for every request.'),
    maxAnswerSize: z.int().min(1).max(268_435_456).default(1_048_576).describe('Most bytes of an answer that is kept.'),
    maxEntries: z
      .int()
      .min(1)
      .max(100_000_000)
      .default(10_000)
      .describe('Most answers in memory; the one that was of no use for longest makes room.'),
    maxSize: z.int().min(1).max(1_099_511_627_776).default(67_108_864).describe('Most bytes of all answers in memory.'),
    pruneIntervalMin: z
      .number()
      .positive()
      .max(10_080)
      .default(1)
      .describe('Minutes between two times that expired answers are removed from memory.'),
    invalidateChannel: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'A channel of NOTIFY: `schema.routine`, several with commas between them, or nothing for all, makes kept answers void.',
      ),
    redisUrl: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'Keeps answers in Redis or Valkey, for several instances: `redis://user:password@host:6379/0`, `rediss://…` for TLS. Needs the package `@redis/client`. Null: in memory.',
      ),
    redisPrefix: z
      .string()
      .min(1)
      .default('pgway')
      .describe('Before every key in Redis; instances with the same one share their answers.'),
    redisTimeout: z
      .number()
      .positive()
      .max(60)
      .default(0.5)
      .describe('Seconds that Redis may take for a command before requests go on without it.'),
    redisMaxAge: z
      .number()
      .positive()
      .max(31_536_000)
      .default(86_400)
      .describe('Seconds that an answer is kept in Redis at most.'),
  })
  .prefault({})
  .describe('Answers that are kept and given again, where comments say `cached`.');
