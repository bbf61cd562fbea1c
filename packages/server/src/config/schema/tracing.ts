import { z } from 'zod';
import { flag, secret, text, textMap } from './fields.ts';

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const endpoint = secret(
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL such as http://localhost:4318/v1/traces' })
    .nullable()
    .default(null)
    .describe(
      'The URL that traces are sent to by OTLP over HTTP, such as `http://localhost:4318/v1/traces`; null: there are no traces. `OTEL_EXPORTER_OTLP_ENDPOINT` (without `/v1/traces`) or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`.',
    ),
);

/** The section `tracing`. */
export const tracingSection = z
  .strictObject({
    endpoint,
    protocol: z
      .enum(['http/protobuf', 'http/json'])
      .default('http/protobuf')
      .describe('The encoding of traces. `OTEL_EXPORTER_OTLP_PROTOCOL`.'),
    headers: secret(
      textMap('Headers of the requests to the endpoint, such as an API key. `OTEL_EXPORTER_OTLP_HEADERS`.'),
    ),
    serviceName: text('pgway', 'The attribute `service.name` of all traces. `OTEL_SERVICE_NAME`.'),
    resourceAttributes: textMap(
      'Further attributes of all traces, such as `deployment.environment.name`. `OTEL_RESOURCE_ATTRIBUTES`.',
    ),
    sampler: z
      .enum(samplers)
      .default('parentbased_traceidratio')
      .describe(
        'Which requests have traces. `parentbased_…`: those whose client has a sampled trace, and of requests without a trace all, none, or `sampleRatio`. Otherwise the trace of the client does not decide. `OTEL_TRACES_SAMPLER`.',
      ),
    sampleRatio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('The share of requests with a trace, from 0 to 1, for `traceidratio`. `OTEL_TRACES_SAMPLER_ARG`.'),
    trustParent: flag(
      true,
      'Whether requests continue the trace of their client (`traceparent`); false: each request begins a trace, so that clients cannot decide what is sampled.',
    ),
  })
  .prefault({})
  .describe('Traces of requests and their calls, by OpenTelemetry.');

export type TracingConfiguration = z.output<typeof tracingSection>;
