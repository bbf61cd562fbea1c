import { z } from 'zod';

/** The section `idempotency`: the store of idempotency keys. */
export const idempotencySection = z
  .strictObject({
    schema: z
      .string()
      .min(1)
      .default('pgway')
      .describe('The schema in which `pgway install idempotency` creates the store.'),
    keyLifetime: z
      .number()
      .min(1)
      .max(31_536_000)
      .default(86_400)
      .describe('Seconds for which a key and its response are stored.'),
    maxResponseSize: z
      .int()
      .min(0)
      .max(64 * 1024 * 1024)
      .default(256 * 1024)
      .describe(
        'The maximum size of the rows of a stored response in bytes. A request with larger rows succeeds, and a repeated one gets a 409.',
      ),
    pruneInterval: z
      .number()
      .min(0)
      .max(86_400)
      .default(60)
      .describe('Seconds between two removals of expired keys, which follow calls with a key.'),
  })
  .prefault({})
  .describe('Idempotency keys, for endpoints with `idempotent` in their comment.');
