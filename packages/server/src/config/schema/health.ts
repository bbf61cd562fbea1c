import { arrayOf, matching, nullable, oneOf, option } from '@pgway/core/internal';
import { section } from './section.ts';

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

/** Paths for load balancers and orchestrators. */
export const healthSection = section('Health checks.', {
  path: option(
    nullable(matching(/^(?:\/[\w.~-]+)+$/, 'a path such as /health')),
    '/health',
    'The path of the summary, which `GET` gets before the endpoints; `/live` and `/ready` are below it. Null: there are no health checks.',
  ),
  details: option(
    oneOf('never', 'loopback', 'always'),
    'never',
    'Which callers see reasons and numbers, beside the names of the checks: none, programs on the same machine that request a loopback name, or every caller. A reverse proxy on the same machine may make every caller look like such a program.',
  ),
  required: option(
    arrayOf(oneOf(...healthChecks)),
    ['database', 'connections', 'pool', 'cache', 'broadcast'],
    'The checks without which the server is not ready: `database`; `connections`, the named ones; `replicas`, if no read replica gets calls; `pool`, whose queue is full; `catalog`, whose last refresh failed; `cache`, `broadcast` and `rateLimits`, if the configuration shares them; `workers`, of which one does not run. The others only change the summary to `degraded`.',
  ),
});
