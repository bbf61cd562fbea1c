import { z } from 'zod';

const seconds = (fallback: number, what: string): z.ZodDefault<z.ZodNumber> =>
  z.number().positive().max(86_400).default(fallback).describe(what);

export const limits = z
  .strictObject({
    headersTimeout: seconds(15, 'Seconds within which the headers of a request must have arrived.'),
    requestTimeout: seconds(60, 'Seconds within which a whole request must have arrived.'),
    keepAliveTimeout: seconds(65, 'Seconds that an idle connection stays open.'),
    maxConnections: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(10_000)
      .describe('Most connections of clients; one more is answered 503.'),
    maxHeaderSize: z
      .int()
      .min(1024)
      .max(1_048_576)
      .default(32_768)
      .describe('Most bytes of the first line and all headers of a request.'),
  })
  .prefault({})
  .describe('Bounds on what clients can hold.');
