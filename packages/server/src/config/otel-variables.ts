/** The standard variables of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables */
import type { Environment } from './environment.ts';

/** A setting that a variable of another program sets. */
export interface ForeignSetting {
  readonly path: string;
  readonly value: unknown;
  readonly variable: string;
}

/** Returns the settings of `tracing` that the variables set. Empty variables count as unset. */
export function otelSettings(environment: Environment): readonly ForeignSetting[] {
  const first = (names: readonly string[]): Found => {
    const variable = names.find((name) => (environment[name] ?? '') !== '');
    return variable === undefined ? null : [variable, environment[variable]!];
  };
  const setting = (
    path: string,
    names: readonly string[],
    parse: (text: string) => unknown = (text) => text,
  ): readonly ForeignSetting[] => {
    const found = first(names);
    return found === null ? [] : [{ path: `tracing.${path}`, value: parse(found[1]), variable: found[0] }];
  };
  const ofTraces = (name: string): readonly string[] => [
    `OTEL_EXPORTER_OTLP_TRACES_${name}`,
    `OTEL_EXPORTER_OTLP_${name}`,
  ];
  return [
    ...(isDisabled(environment) ? [] : endpointSetting(first(ofTraces('ENDPOINT')))),
    ...setting('protocol', ofTraces('PROTOCOL')),
    ...setting('headers', ofTraces('HEADERS'), parsePairs),
    ...resourceSetting(first(['OTEL_SERVICE_NAME']), first(['OTEL_RESOURCE_ATTRIBUTES'])),
    ...setting('sampler', ['OTEL_TRACES_SAMPLER']),
    ...setting('sampleRatio', ['OTEL_TRACES_SAMPLER_ARG'], parseNumber),
  ];
}

function isDisabled(environment: Environment): boolean {
  return environment['OTEL_SDK_DISABLED'] === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none';
}

/** The general variable has the URL of all signals, to which the path of traces is added. */
function endpointSetting(found: Found): readonly ForeignSetting[] {
  if (found === null) return [];
  const [variable, text] = found;
  const value = variable.includes('TRACES') ? text : `${text.replace(/\/$/, '')}/v1/traces`;
  return [{ path: 'tracing.endpoint', value, variable }];
}

type Found = readonly [variable: string, text: string] | null;

/** The name of the service is an attribute, too; its own variable takes precedence. */
function resourceSetting(service: Found, attributes: Found): readonly ForeignSetting[] {
  const pairs = attributes === null ? {} : parsePairs(attributes[1]);
  const variable = attributes?.[0] ?? service?.[0];
  if (variable === undefined) return [];
  const name = service === null ? {} : { 'service.name': service[1] };
  return [
    { path: 'tracing.resourceAttributes', value: typeof pairs === 'string' ? pairs : { ...pairs, ...name }, variable },
  ];
}

function parseNumber(text: string): number | string {
  return /^\d*\.?\d+$/.test(text) ? Number(text) : text;
}

/** Parses `key=value,key=value` with percent-encoded values; a malformed text is returned as it is. */
function parsePairs(text: string): Readonly<Record<string, string>> | string {
  const pairs = text.split(',').map((pair) => /^\s*([^=]+?)\s*=(.*)$/.exec(pair));
  if (pairs.some((pair) => pair === null)) return text;
  try {
    return Object.fromEntries(pairs.map((pair) => [pair![1]!, decodeURIComponent(pair![2]!.trim())]));
  } catch {
    return text;
  }
}
