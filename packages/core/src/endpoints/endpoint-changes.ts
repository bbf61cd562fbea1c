import type { Steps } from '../catalog/steps.ts';
import { findParameter, type ReportProblem } from './parameters.ts';
import type { BuildResult } from './build-endpoints.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import type { Endpoint } from './endpoint.ts';
import { findIdempotencyFault } from './idempotency.ts';
import { findOptionFault } from './upload.ts';
import type { EndpointUploadOptions, UploadOptionDefinitions } from './upload-option.ts';
import { excludeDuplicateStreams } from './events.ts';
import { parsePath, type PathSegment } from './path.ts';
import { excludeDuplicateRoutes } from './duplicate-routes.ts';

/** An endpoint before and after the `endpointCreated` hook. */
export interface EndpointChange {
  readonly original: Endpoint;
  readonly endpoint: Endpoint;
}

/** The connections, upload handlers and rate limits that an endpoint can name. */
export interface AvailableNames {
  readonly connectionNames: readonly string[];
  /** Null: uploads are disabled. */
  readonly uploads: EndpointUploadOptions | null;
  readonly rateLimits: readonly string[];
}

/** Validates endpoints that the `endpointCreated` hook has changed. Invalid ones are omitted and reported. */
export function* validateEndpointChanges(
  changes: readonly EndpointChange[],
  available: AvailableNames,
): Steps<BuildResult> {
  const diagnostics: Diagnostic[] = [];
  const valid = changes.flatMap(({ original, endpoint }) => {
    const faults = original === endpoint ? [] : findFaults(endpoint, available);
    diagnostics.push(...faults);
    return faults.length === 0 ? [endpoint] : [];
  });
  // Unchanged endpoints have been checked for duplicates already.
  if (changes.every(({ original, endpoint }) => original === endpoint)) return { endpoints: valid, diagnostics };
  const routed = yield* excludeDuplicateRoutes(valid);
  const streamed = excludeDuplicateStreams(routed.endpoints);
  return {
    endpoints: streamed.endpoints,
    diagnostics: [...diagnostics, ...routed.diagnostics, ...streamed.diagnostics],
  };
}

function findFaults(
  endpoint: Endpoint,
  { connectionNames, uploads, rateLimits }: AvailableNames,
): readonly Diagnostic[] {
  const faults: Diagnostic[] = [];
  const report: ReportProblem = (code, message) => {
    faults.push({ severity: 'error', code, routine: endpoint.id, line: null, message: `endpointCreated: ${message}` });
  };
  const { path, connection, rateLimit } = endpoint;
  const segments = path.startsWith('/') ? parsePath(path) : 'a path must begin with a slash';
  if (typeof segments === 'string') report('path-syntax', `${display(path)}: ${segments}`);
  else checkPathParameters(endpoint, segments, report);
  if (connection !== null && !connectionNames.includes(connection)) {
    report('unknown-connection', `no connection is named ${display(connection)}`);
  }
  if (rateLimit !== null && !rateLimits.includes(rateLimit)) {
    report('unknown-policy', `no rate limit is named ${display(rateLimit)}`);
  }
  const fault = findIdempotencyFault(endpoint);
  if (fault !== null) report('idempotent', fault);
  checkUpload(endpoint, uploads, report);
  return faults;
}

/** Reports handlers that do not exist, and options that a handler does not define or cannot have. */
function checkUpload(endpoint: Endpoint, uploads: EndpointUploadOptions | null, report: ReportProblem): void {
  for (const handler of endpoint.upload?.handlers ?? []) {
    if (uploads !== null && Object.hasOwn(uploads.handlers, handler))
      checkUploadOptions(endpoint, { handler, definitions: uploads.handlers[handler]! }, report);
    else report('unknown-handler', `no upload handler is named ${display(handler)}`);
  }
}

function checkUploadOptions(
  { upload, parameters }: Endpoint,
  { handler, definitions }: { readonly handler: string; readonly definitions: UploadOptionDefinitions },
  report: ReportProblem,
): void {
  const metadata = parameters.find(({ position }) => position === upload?.metadataParameter) ?? null;
  for (const [option, text] of Object.entries(upload?.options[handler] ?? {})) {
    const fault = Object.hasOwn(definitions, option)
      ? findOptionFault(definitions[option]!, text, { parameters, metadata })
      : 'does not exist';
    if (fault !== null) report('upload-option', `${display(option)} of the upload handler ${handler} ${fault}`);
  }
}

/** Reports path segments without an `inPath` parameter, whose values would be lost, and the reverse. */
function checkPathParameters(
  { path, parameters }: Endpoint,
  segments: readonly PathSegment[],
  report: ReportProblem,
): void {
  const named = new Set<object>();
  for (const segment of segments) {
    if (segment.kind === 'literal') continue;
    const parameter = findParameter(parameters, segment.name);
    if (parameter?.inPath !== true) {
      report(
        'path-parameter',
        `${display(path)} contains ${display(segment.name)}, but no parameter of that name is inPath`,
      );
    } else named.add(parameter);
  }
  for (const parameter of parameters) {
    if (parameter.inPath && !named.has(parameter)) {
      report('path-parameter', `${display(parameter.key)} is inPath, but ${display(path)} does not contain it`);
    }
  }
}
