import { z } from 'zod';
import { flag, secret } from './fields.ts';

const minTokenLength = 16;

/** Seconds. */
const defaultBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function isIncreasing(buckets: readonly number[]): boolean {
  return buckets.every((bucket, index) => index === 0 || bucket > buckets[index - 1]!);
}

const token = secret(
  z
    .string()
    .regex(/^[\w.~+/=-]+$/, 'must be a bearer token: letters, digits and -._~+/=')
    .min(minTokenLength)
    .nullable()
    .default(null)
    .describe(
      'A token of at least 16 characters that callers must send, as in `Authorization: Bearer <token>`, wherever they are; null: none.',
    ),
);

/** The section `metrics`. */
export const metricsSection = z
  .strictObject({
    enabled: flag(
      false,
      'Answers `GET` of `path` with metrics in the text format of Prometheus, before the endpoints.',
    ),
    path: z
      .string()
      .regex(/^(?:\/[\w.~-]+)+$/, 'must be a path such as /metrics')
      .default('/metrics')
      .describe('The path of the metrics.'),
    access: z
      .enum(['loopback', 'always'])
      .default('loopback')
      .describe(
        'Which callers may read the metrics without a `token`: programs on the same machine that request a loopback name, or every caller. A reverse proxy on the same machine may make every caller look like such a program.',
      ),
    token,
    perEndpoint: flag(
      true,
      'Whether metrics of requests have the path of their endpoint in the label `route`; false: one value for all endpoints. Each endpoint has about 40 series.',
    ),
    buckets: z
      .array(z.number().positive())
      .min(1)
      .max(50)
      .refine(isIncreasing, 'must be in ascending order')
      .default(defaultBuckets)
      .describe('The upper bounds of the buckets of histograms, in seconds; as JSON in variables and arguments.'),
  })
  .prefault({})
  .describe('Metrics for Prometheus.');

export type MetricsConfiguration = z.output<typeof metricsSection>;
