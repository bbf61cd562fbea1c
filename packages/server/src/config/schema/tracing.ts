import { hidden, matching, nullable, number, oneOf, option, recordOf, secret } from '@pgway/core/internal';
import { flag, textMap } from './fields.ts';
import { section, type SectionValues } from './section.ts';

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const endpoint = hidden(
  matching(/^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/, 'an http or https URL such as http://localhost:4318/v1/traces'),
);

export const tracingSection = section('Traces of requests and their calls, by OpenTelemetry.', {
  endpoint: option(
    nullable(endpoint),
    null,
    'The URL that traces are sent to by OTLP over HTTP, such as `http://localhost:4318/v1/traces`; null: there are no traces. `OTEL_EXPORTER_OTLP_ENDPOINT` (without `/v1/traces`) or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`.',
  ),
  protocol: option(
    oneOf('http/protobuf', 'http/json'),
    'http/protobuf',
    'The encoding of traces. `OTEL_EXPORTER_OTLP_PROTOCOL`.',
  ),
  headers: option(
    recordOf(secret),
    {},
    'Headers of the requests to the endpoint, such as an API key. `OTEL_EXPORTER_OTLP_HEADERS`.',
  ),
  resourceAttributes: textMap(
    'Further attributes of all traces, such as `deployment.environment.name`, and `service.name`, which is otherwise the `name` of the gateway. `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`.',
  ),
  sampler: option(
    oneOf(...samplers),
    'parentbased_traceidratio',
    'Which requests have traces. `parentbased_…`: those whose client has a sampled trace, and of requests without a trace all, none, or `sampleRatio`. Otherwise the trace of the client does not decide. `OTEL_TRACES_SAMPLER`.',
  ),
  sampleRatio: option(
    number({ min: 0, max: 1 }),
    1,
    'The share of requests with a trace, from 0 to 1, for `traceidratio`. `OTEL_TRACES_SAMPLER_ARG`.',
  ),
  trustParent: flag(
    true,
    'Whether requests continue the trace of their client (`traceparent`); false: each request begins a trace, so that clients cannot decide what is sampled.',
  ),
});

export type TracingConfiguration = SectionValues<typeof tracingSection>;
