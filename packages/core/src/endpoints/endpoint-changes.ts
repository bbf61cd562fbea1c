import { findParameter, type ReportProblem } from './parameters.ts';
import type { BuildResult } from './build-endpoints.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import type { Endpoint } from './endpoint.ts';
import { excludeDuplicateStreams } from './events.ts';
import { parsePath, type PathSegment } from './path.ts';
import { excludeDuplicateRoutes } from './duplicate-routes.ts';

/** What the host's callback made of an endpoint. */
export interface EndpointChange {
  readonly original: Endpoint;
  readonly endpoint: Endpoint;
}

/**
 * Endpoints that a host has changed hold to the rules of those that were planned: what cannot be published as it is now is
 * left out, and told.
 */
export function validateEndpointChanges(
  reviewed: readonly EndpointChange[],
  connectionNames: readonly string[],
): BuildResult {
  const diagnostics: Diagnostic[] = [];
  const sound = reviewed.flatMap(({ original: planned, endpoint }) => {
    const faults = planned === endpoint ? [] : faultsOf(endpoint, connectionNames);
    diagnostics.push(...faults);
    return faults.length === 0 ? [endpoint] : [];
  });
  // Nothing has changed, nothing can collide: that was looked at.
  if (reviewed.every(({ original: planned, endpoint }) => planned === endpoint))
    return { endpoints: sound, diagnostics };
  const routed = excludeDuplicateRoutes(sound);
  const streamed = excludeDuplicateStreams(routed.endpoints);
  return {
    endpoints: streamed.endpoints,
    diagnostics: [...diagnostics, ...routed.diagnostics, ...streamed.diagnostics],
  };
}

function faultsOf(endpoint: Endpoint, connectionNames: readonly string[]): readonly Diagnostic[] {
  const faults: Diagnostic[] = [];
  const refuse: ReportProblem = (code, message) => {
    faults.push({ severity: 'error', code, routine: endpoint.id, line: null, message: `endpointCreated: ${message}` });
  };
  const { path, connection } = endpoint;
  const segments = path.startsWith('/') ? parsePath(path) : 'a path begins with a slash';
  if (typeof segments === 'string') refuse('path-syntax', `${display(path)}: ${segments}`);
  else checkPathParameters(endpoint, segments, refuse);
  if (connection !== null && !connectionNames.includes(connection)) {
    refuse('unknown-connection', `no connection is named ${display(connection)}`);
  }
  return faults;
}

/** A value in the path that no parameter takes would be dropped without a word. */
function checkPathParameters(
  { path, parameters }: Endpoint,
  segments: readonly PathSegment[],
  refuse: ReportProblem,
): void {
  const named = new Set<object>();
  for (const segment of segments) {
    if (segment.kind === 'literal') continue;
    const parameter = findParameter(parameters, segment.name);
    if (parameter?.inPath !== true) {
      refuse(
        'path-parameter',
        `${display(path)} names ${display(segment.name)}, but no parameter of that name is inPath`,
      );
    } else named.add(parameter);
  }
  for (const parameter of parameters) {
    if (parameter.inPath && !named.has(parameter)) {
      refuse('path-parameter', `${display(parameter.key)} is inPath, but ${display(path)} does not name it`);
    }
  }
}
