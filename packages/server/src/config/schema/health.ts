import { z } from 'zod';
import { flag } from './fields.ts';

export const healthChecks = [
  'database',
  'connections',
  'replicas',
  'pool',
  'catalog',
  'cache',
  'broadcast',
  'rateLimits',
  'workers',
] as const;

/** The section `health`: paths for load balancers and orchestrators. */
export const healthSection = z
  .strictObject({
    enabled: flag(true, 'Answers `GET` of `path`, `path/live` and `path/ready`, before the endpoints.'),
    path: z
      .string()
      .regex(/^(?:\/[\w.~-]+)+$/, 'must be a path such as /health')
      .default('/health')
      .describe('The path of the summary; `/live` and `/ready` are below it.'),
    details: z
      .enum(['never', 'loopback', 'always'])
      .default('never')
      .describe(
        'Which callers see reasons and numbers, beside the names of the checks: none, programs on the same machine that request a loopback name, or every caller. A reverse proxy on the same machine may make every caller look like such a program.',
      ),
    required: z
      .array(z.enum(healthChecks))
      .default(['database', 'connections', 'pool', 'cache', 'broadcast'])
      .describe(
        'The checks without which the server is not ready: `database`; `connections`, the named ones; `replicas`, if no read replica gets calls; `pool`, whose queue is full; `catalog`, whose last refresh failed; `cache`, `broadcast` and `rateLimits`, if the configuration shares them; `workers`, of which one does not run. The others only change the summary to `degraded`.',
      ),
    timeout: z
      .number()
      .min(0.1)
      .max(60)
      .default(1)
      .describe('Seconds that the database has to answer `select 1`. The result is reused for a second.'),
  })
  .prefault({})
  .describe('Health checks.');
