import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint, EndpointParameter, RequestHeadersBinding } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import { bodyParameterName } from './annotations/body-parameter-name.ts';
import { requestHeaders, requestHeadersParameterName } from './annotations/request-headers.ts';
import { paramType } from './annotations/request-param-type.ts';
import { orOption } from './comment/resolve-values.ts';
import { fromRoutine, type Resolved, withValue } from './origin.ts';
import { unknownParameter } from './unknown-parameter.ts';

/** Shared by all endpoints without a parameter for the headers. */
const withoutParameter = {
  ignore: Object.freeze({ mode: 'ignore' }),
  context: Object.freeze({ mode: 'context' }),
} as const;

type OtherValues = Pick<Endpoint, 'bodyParameter' | 'upload'>;

/**
 * Resolves the destination of the request headers. A missing parameter is an error when the comment asks for it, and means
 * `ignore` when only the option does.
 *
 * @param others the parameters that receive other values
 */
export function resolveRequestHeaders(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  others: OtherValues,
): Resolved<RequestHeadersBinding> {
  const preset = orOption(builder, requestHeaders, 'requestHeadersMode');
  const mode = preset.value;
  const nameAnnotation = builder.annotationFor(requestHeadersParameterName);
  if (mode !== 'parameter') {
    if (nameAnnotation !== null) warnOfMode(builder, nameAnnotation.name, nameAnnotation.line);
    return withValue<RequestHeadersBinding>(preset, withoutParameter[mode]);
  }
  const name = builder.get(requestHeadersParameterName) ?? builder.options.requestHeadersParameterName;
  const parameter = findParameter(parameters, name);
  if (parameter !== null && canReceiveHeaders(parameter, others))
    return withValue<RequestHeadersBinding>(preset, { mode, position: parameter.position });
  const annotation = nameAnnotation ?? builder.annotationFor(requestHeaders);
  if (annotation !== null) {
    builder.report(
      'error',
      'request-headers-parameter',
      `the request headers need a parameter ${display(name)} of type json, jsonb, text or varchar with a default, which is not a path, body, metadata or injected parameter; add one, or set another name`,
      annotation.line,
    );
  }
  return fromRoutine(withoutParameter.ignore, `no parameter ${display(name)} can receive the request headers`);
}

function warnOfMode(builder: EndpointBuilder, name: string, line: number): void {
  builder.report('warning', 'no-effect', `${name} has no effect without request_headers parameter`, line);
}

const types: ReadonlySet<string | null> = new Set(['json', 'jsonb', 'text', 'varchar']);

/** Returns whether the parameter can receive the headers. It must be optional, and named to be passed alone. */
function canReceiveHeaders(parameter: EndpointParameter, { bodyParameter, upload }: OtherValues): boolean {
  const { type, optional, unnamed, inPath, position, injectedValue, hashOf } = parameter;
  if (injectedValue !== undefined || hashOf !== undefined) return false;
  if (position === bodyParameter || position === upload?.metadataParameter) return false;
  return types.has(type.builtin) && optional && !unnamed && !inPath;
}

/** Returns the position of the parameter that receives the whole body, or null. An unsuitable parameter is an error. */
export function resolveBodyParameter(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): number | null {
  const name = builder.get(bodyParameterName);
  const annotation = builder.annotationFor(bodyParameterName);
  if (name === null || annotation === null) return null;
  const parameter = findParameter(parameters, name);
  const problem = builder.get(paramType) === 'body' ? describeContradiction(builder) : findProblem(parameters, name);
  if (problem !== null) builder.report('error', 'body-parameter', `${annotation.name}: ${problem}`, annotation.line);
  return parameter?.position ?? null;
}

function describeContradiction(builder: EndpointBuilder): string {
  const name = builder.annotationFor(paramType)?.name ?? '';
  return `contradicts ${name}, which reads the body as a JSON object of all parameters; keep one of the lines`;
}

function findProblem(parameters: readonly EndpointParameter[], name: string): string | null {
  const parameter = findParameter(parameters, name);
  if (parameter === null) return unknownParameter(name, parameters);
  if (parameter.injectedValue === 'query') return `${display(name)} is set by a query; name another parameter`;
  if (parameter.injectedValue !== undefined)
    return `${display(name)} receives the identity of the caller; name another parameter`;
  if (parameter.inPath) return `${display(name)} is a path parameter; name another parameter`;
  return null;
}
