import {
  arrayOf,
  checked,
  hidden,
  matching,
  nullable,
  number,
  oneOf,
  option,
  type Validator,
} from '@pgway/core/internal';
import { flag } from './fields.ts';
import { section, type SectionValues } from './section.ts';

/** Seconds. */
const defaultBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const maxBuckets = 50;

const buckets: Validator<readonly number[]> = checked(arrayOf(number({ above: 0 })), (bounds) => {
  if (bounds.length === 0 || bounds.length > maxBuckets) return `must have 1 to ${maxBuckets} bounds`;
  const isIncreasing = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
  return isIncreasing ? null : 'must be in ascending order';
});

const token: Validator<string> = hidden(
  matching(/^[\w.~+/=-]{16,}$/, 'a bearer token of at least 16 characters: letters, digits and -._~+/='),
);

export const metricsSection = section('Metrics for Prometheus.', {
  path: option(
    nullable(matching(/^(?:\/[\w.~-]+)+$/, 'a path such as /metrics')),
    null,
    'The path where `GET` gets metrics in the text format of Prometheus, before the endpoints, such as `/metrics`. Null: there are no metrics.',
  ),
  access: option(
    oneOf('loopback', 'always'),
    'loopback',
    'Which callers may read the metrics without a `token`: programs on the same machine that request a loopback name, or every caller. A reverse proxy on the same machine may make every caller look like such a program.',
  ),
  token: option(
    nullable(token),
    null,
    'A token of at least 16 characters that callers must send, as in `Authorization: Bearer <token>`, wherever they are; null: none.',
  ),
  perEndpoint: flag(
    true,
    'Whether metrics of requests have the path of their endpoint in the label `route`; false: one value for all endpoints. Each endpoint has about 40 series.',
  ),
  buckets: option(
    buckets,
    defaultBuckets,
    'The upper bounds of the buckets of histograms, in seconds; as JSON in variables and arguments.',
  ),
});

export type MetricsConfiguration = SectionValues<typeof metricsSection>;
