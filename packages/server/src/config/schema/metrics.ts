import { hidden, matching, nullable, oneOf, option, type Validator } from '@pgway/core/internal';
import { flag } from './fields.ts';
import { section, type SectionValues } from './section.ts';

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
});

export type MetricsConfiguration = SectionValues<typeof metricsSection>;
