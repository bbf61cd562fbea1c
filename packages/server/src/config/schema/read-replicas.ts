import { z } from 'zod';
import { secret } from './fields.ts';

/** The section `readReplicas`: streaming replicas of the main database. */
export const readReplicasSection = z
  .strictObject({
    connectionStrings: secret(
      z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Streaming replicas of the database, which run calls that only read. Each host of a connection string is a replica.',
        ),
    ),
    maxLagSeconds: z
      .number()
      .min(0.5)
      .max(86_400)
      .default(5)
      .describe(
        'Seconds by which a replica may be behind the primary. One that is further behind, or whose lag is unknown because the primary does not answer, gets no calls.',
      ),
    consistency: z
      .enum(['strong', 'eventual'])
      .default('eventual')
      .describe(
        'Where reads run whose comment has no `consistency`: on a replica (`eventual`), or on the primary (`strong`).',
      ),
  })
  .prefault({})
  .describe('Read replicas of the database.');
