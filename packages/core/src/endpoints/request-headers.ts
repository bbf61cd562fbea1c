import { display } from './display.ts';
import type { Draft } from './endpoint-builder.ts';
import type { EndpointParameter, RequestHeaders } from './endpoint.ts';
import { parameterNamed } from './parameters.ts';

/**
 * Where the headers of a request go. A routine without a fitting parameter gets none: quietly, when the host asks it of all
 * endpoints; but an author who asked for them believes that they arrive, and that stops the endpoint.
 */
export function planRequestHeaders(
  draft: Draft,
  parameters: readonly EndpointParameter[],
  bodyParameter: number | null,
): RequestHeaders {
  const { settings, options } = draft;
  const mode = settings.requestHeadersMode ?? options.requestHeadersMode;
  const naming = draft.useOf('requestHeadersParameterName');
  if (mode !== 'parameter') {
    if (naming !== null) warnOfMode(draft, naming.name, naming.line);
    return { mode };
  }
  const name = settings.requestHeadersParameterName ?? options.requestHeadersParameterName;
  const parameter = parameterNamed(parameters, name);
  if (parameter !== null && takesHeaders(parameter, bodyParameter)) return { mode, position: parameter.position };
  const asking = naming ?? draft.useOf('requestHeadersMode');
  if (asking !== null) {
    draft.report(
      'error',
      'request-headers-parameter',
      `the request headers need a parameter ${display(name)} of type json, jsonb, text or varchar with a default, which neither the path nor the body gives, and nothing else fills; the routine has no such parameter`,
      asking.line,
    );
  }
  return { mode: 'ignore' };
}

function warnOfMode(draft: Draft, name: string, line: number): void {
  draft.report('warning', 'no-effect', `${name} has no effect unless request_headers is parameter`, line);
}

const types: ReadonlySet<string | null> = new Set(['json', 'jsonb', 'text', 'varchar']);

/** The default is what tells that a client need not give it. Without a name it could not be given alone. */
function takesHeaders(parameter: EndpointParameter, bodyParameter: number | null): boolean {
  const { type, optional, unnamed, inPath, position, injected: filling, hashOf } = parameter;
  if (filling !== undefined || hashOf !== undefined) return false;
  return types.has(type.builtin) && optional && !unnamed && !inPath && position !== bodyParameter;
}
