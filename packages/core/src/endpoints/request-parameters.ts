import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, RequestHeadersBinding } from './endpoint.ts';
import { findParameter } from './parameters.ts';

/**
 * Where the headers of a request go. A routine without a fitting parameter gets none: quietly, when the host asks it of all
 * endpoints; but an author who asked for them believes that they arrive, and that stops the endpoint.
 */
export function resolveRequestHeaders(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  bodyParameter: number | null,
): RequestHeadersBinding {
  const { overrides, options } = builder;
  const mode = overrides.requestHeadersMode ?? options.requestHeadersMode;
  const naming = builder.annotationFor('requestHeadersParameterName');
  if (mode !== 'parameter') {
    if (naming !== null) warnOfMode(builder, naming.name, naming.line);
    return { mode };
  }
  const name = overrides.requestHeadersParameterName ?? options.requestHeadersParameterName;
  const parameter = findParameter(parameters, name);
  if (parameter !== null && takesHeaders(parameter, bodyParameter)) return { mode, position: parameter.position };
  const asking = naming ?? builder.annotationFor('requestHeadersMode');
  if (asking !== null) {
    builder.report(
      'error',
      'request-headers-parameter',
      `the request headers need a parameter ${display(name)} of type json, jsonb, text or varchar with a default, which neither the path nor the body gives, and nothing else fills; the routine has no such parameter`,
      asking.line,
    );
  }
  return { mode: 'ignore' };
}

function warnOfMode(builder: EndpointBuilder, name: string, line: number): void {
  builder.report('warning', 'no-effect', `${name} has no effect unless request_headers is parameter`, line);
}

const types: ReadonlySet<string | null> = new Set(['json', 'jsonb', 'text', 'varchar']);

/** The default is what tells that a client need not give it. Without a name it could not be given alone. */
function takesHeaders(parameter: EndpointParameter, bodyParameter: number | null): boolean {
  const { type, optional, unnamed, inPath, position, injectedValue, hashOf } = parameter;
  if (injectedValue !== undefined || hashOf !== undefined) return false;
  return types.has(type.builtin) && optional && !unnamed && !inPath && position !== bodyParameter;
}

/**
 * The position of the parameter that takes the body as it is, of whatever type: PostgreSQL reads the text. Null when the comment
 * names none. A name that leads to no such parameter stops the endpoint: read as JSON, the body would mean something else.
 */
export function resolveBodyParameter(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): number | null {
  const name = builder.overrides.bodyParameterName;
  const use = builder.annotationFor('bodyParameterName');
  if (name === null || use === null) return null;
  const parameter = findParameter(parameters, name);
  const wrong =
    builder.overrides.parameterSource === 'body' ? sourceContradicts(builder) : reasonAgainst(parameter, name);
  if (wrong !== null) builder.report('error', 'body-parameter', `${use.name}: ${wrong}`, use.line);
  return parameter?.position ?? null;
}

function sourceContradicts(builder: EndpointBuilder): string {
  const word = builder.annotationFor('parameterSource')?.name ?? '';
  return `the body is either one parameter or, as ${word} says, an object of all of them; keep one of the two lines`;
}

function reasonAgainst(parameter: EndpointParameter | null, name: string): string | null {
  if (parameter === null) return `the routine has no parameter ${display(name)}`;
  if (parameter.injectedValue !== undefined) return `${display(name)} is filled with what is known of the caller`;
  if (parameter.inPath) return `${display(name)} already takes its value from the path`;
  return null;
}
