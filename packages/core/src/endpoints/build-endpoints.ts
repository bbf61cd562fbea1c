import type { Routine } from '../catalog/routine.ts';
import type { Steps } from '../catalog/steps.ts';
import { findIdempotencyFault } from './idempotency.ts';
import { resolveResultShape, resolveOutputConversion, resolveRawFormat, findTextOutputs } from './result-shape.ts';
import { type RoutineIndex, indexRoutines, resolveCachePolicy, resolveInvalidations } from './cache-policy.ts';
import { resolveBodyParameter, resolveRequestHeaders } from './request-parameters.ts';
import { CommentTrace } from './comment/comment-trace.ts';
import { parseComment } from './comment/parse-comment.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { resolveEvents, excludeDuplicateStreams } from './events.ts';
import { deepFreeze } from './deep-freeze.ts';
import { callNameOption } from './naming.ts';
import { createColumnConverter, createTypeConverter } from './named-type.ts';
import type { EndpointOptions } from './options.ts';
import type { TracedRoutine } from './explanation.ts';
import { type NameConverter, buildParameters } from './parameters.ts';
import { resolveBasicAuthentication, resolveLoginOrLogout } from './authentication.ts';
import { resolveInjectedValues } from './injected-values.ts';
import { convertToNumberTexts } from './large-numbers.ts';
import { resolveRoute, resolveParameterSource } from './route.ts';
import { excludeDuplicateRoutes } from './duplicate-routes.ts';
import { resolveRules } from './validation/resolve-rules.ts';
import { resolveTable } from './table.ts';
import { resolveUpload } from './upload.ts';
import { mergeTableDiagnostics, reportEmptyUpdate, type RoutineDiagnostic } from './table-diagnostics.ts';

/** Endpoints, and diagnostics about their comments. */
export interface BuildResult {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The endpoints of routines, and the material of their explanation. */
export interface EndpointPlan extends BuildResult {
  /** Every routine, with or without an endpoint. Empty unless an explanation was asked for. */
  readonly traced: readonly TracedRoutine[];
  /** The diagnostics about several endpoints, which are part of `diagnostics`. */
  readonly conflicts: readonly Diagnostic[];
}

/**
 * Builds one endpoint per routine from its comment and the options, in the order of the routines. Omits endpoints with a
 * diagnostic of severity `error`. The endpoints and diagnostics are deeply frozen.
 * @param explain whether to record how each comment is read
 */
export function* buildEndpoints(
  routines: readonly Routine[],
  options: EndpointOptions,
  explain: boolean = false,
): Steps<EndpointPlan> {
  const traced: TracedRoutine[] = [];
  const diagnostics: RoutineDiagnostic[] = [];
  const built: Endpoint[] = [];
  const { nameConverter } = options;
  const converted = new Map<string, string>();
  const convert = (name: string): string => {
    const known = converted.get(name) ?? callNameOption('nameConverter', name, () => nameConverter(name));
    converted.set(name, known);
    return known;
  };
  const convertType = createTypeConverter(convert);
  const convertColumns = createColumnConverter(convert, convertType);
  const names: NameConverter = { convertName: convert, convertType, convertColumns };
  let index: RoutineIndex | null = null;
  const known = (): RoutineIndex => (index ??= indexRoutines(routines));
  for (const routine of routines) {
    const builder = new EndpointBuilder(routine, options, explain ? new CommentTrace() : null);
    const endpoint = buildEndpoint(builder, names, known);
    if (endpoint !== null && !builder.hasErrors) built.push(deepFreeze(endpoint));
    if (explain) traced.push({ builder, endpoint });
    diagnostics.push(...builder.diagnostics.map((diagnostic) => ({ routine, diagnostic })));
    yield;
  }
  const routed = yield* excludeDuplicateRoutes(built);
  const streamed = excludeDuplicateStreams(routed.endpoints);
  const conflicts = [...routed.diagnostics, ...streamed.diagnostics];
  const result = deepFreeze({
    endpoints: streamed.endpoints,
    diagnostics: [...mergeTableDiagnostics(diagnostics), ...conflicts],
  });
  return Object.freeze({ ...result, traced: Object.freeze(traced), conflicts: Object.freeze(conflicts) });
}

/** Returns null for a routine that is not published. An endpoint with errors in its builder must not be published. */
function buildEndpoint(builder: EndpointBuilder, names: NameConverter, known: () => RoutineIndex): Endpoint | null {
  const { routine } = builder;
  const commentsMode = routine.commentsMode ?? builder.options.commentsMode;
  if (commentsMode === 'ignore') describeComment(builder, routine.comment ?? '');
  else parseComment(builder, routine.comment ?? '');

  const isPublished = commentsMode !== 'onlyWithHttpTag' || builder.hasHttpAnnotation;
  // Without an endpoint, only the hints about its `HTTP` line matter.
  if (!isPublished) builder.diagnostics.length = 0;
  if (!builder.hasHttpAnnotation) builder.diagnostics.push(...builder.hints);
  if (!isPublished || !builder.overrides.enabled) return null;
  return checkSource(builder) && checkTypes(builder)
    ? withoutInternal(builder, reportIdempotency(builder, assembleEndpoint(builder, names, known)))
    : null;
}

/** Returns null for an endpoint that no client may reach. Its comment has been checked. */
function withoutInternal(builder: EndpointBuilder, endpoint: Endpoint): Endpoint | null {
  const { internal, mcp } = builder.overrides;
  if (internal !== true) return endpoint;
  if (mcp === true) {
    const line = builder.annotationFor('mcp')?.line ?? null;
    const message = 'mcp: tools cannot call an internal endpoint; remove one of the lines';
    builder.report('warning', 'contradiction', message, line);
  }
  return null;
}

/** Reports what the source has found. Returns whether that is nothing. */
function checkSource(builder: EndpointBuilder): boolean {
  const { faults } = builder.routine;
  for (const { severity = 'error', code, line, message } of faults ?? []) builder.report(severity, code, message, line);
  return faults === undefined;
}

function reportIdempotency(builder: EndpointBuilder, endpoint: Endpoint): Endpoint {
  const fault = findIdempotencyFault(endpoint);
  if (fault !== null) {
    builder.reportAt('idempotency', 'idempotent', `idempotent: ${fault}`);
  }
  return endpoint;
}

/** Reads a comment without annotations. */
function describeComment(builder: EndpointBuilder, comment: string): void {
  builder.description.push(comment);
  builder.trace?.addProse(comment);
}

/** Reports pseudo-types (`anyelement`, `internal`, `trigger`), which no request or response can contain. Returns whether there are none. */
function checkTypes(builder: EndpointBuilder): boolean {
  const { routine } = builder;
  const pseudo = routine.parameters.find((parameter) => parameter.type.kind === 'pseudo');
  if (pseudo === undefined) return checkResultType(builder);
  builder.report(
    // Without an `HTTP` line the routine was published by `commentsMode` only.
    builder.hasHttpAnnotation ? 'error' : 'warning',
    'uncallable-type',
    `the parameter ${display(pseudo.name ?? `$${pseudo.position}`)} is of type ${pseudo.type.display}, which a request cannot contain; the routine is not published`,
    null,
  );
  return false;
}

function checkResultType(builder: EndpointBuilder): boolean {
  const { result } = builder.routine;
  if (result.kind !== 'scalar' || result.columns[0]?.type.kind !== 'pseudo') return true;
  // Trigger functions without an `HTTP` line need no report.
  if (builder.hasHttpAnnotation) {
    const message = `the routine returns ${result.display}, which a response cannot contain; the routine is not published`;
    builder.report('error', 'uncallable-type', message, null);
  }
  return false;
}

function assembleEndpoint(builder: EndpointBuilder, plain: NameConverter, known: () => RoutineIndex): Endpoint {
  const { routine, options, overrides } = builder;
  const hasNumberTexts = (overrides.largeNumbers ?? options.largeNumbers) === 'string';
  const names = hasNumberTexts ? convertToNumberTexts(plain) : plain;
  const reportError = (code: string, message: string): void => builder.report('error', code, message, null);
  const { method, path, segments } = resolveRoute(builder);
  const reportPathError = (code: string, message: string): void => builder.reportAt('path', code, message);
  const own = buildParameters(routine, segments, names, { reportError, reportPathError });
  const injected = resolveRules(builder, resolveInjectedValues(builder, own));
  const source = resolveParameterSource(builder, method);
  const { parameters, table } = resolveTable(builder, injected, source);
  const reportWarning = (code: string, message: string): void => builder.report('warning', code, message, null);
  // The row of a login must not have duplicate columns.
  const reporters = { reportError, reportWarning: overrides.loginOrLogout === null ? reportWarning : reportError };
  const result = resolveResultShape(routine, names, resolveComposites(builder), reporters);
  const raw = resolveRawFormat(builder, result);
  const bodyParameter = resolveBodyParameter(builder, parameters);
  const upload = resolveUpload(builder, parameters);
  if (raw === null) warnOfTextOutputs(builder);
  reportEmptyUpdate(builder);
  return {
    id: routine.signature,
    source: routine.source ?? 'functions',
    kind: routine.kind,
    schema: routine.schema,
    name: routine.name,
    method,
    path,
    // Parameters that are not read from the body come from the query string.
    parameterSource: bodyParameter === null ? source : 'query',
    parameters,
    rejectsUnknownKeys: /^(?:update|delete)/.test(routine.table?.operation ?? ''),
    outputs: share(routine.outputs.map(({ name, before }) => ({ name, before }))),
    table,
    constraintMessages: routine.table?.constraintMessages ?? noMessages,
    result,
    responseHeaders: share(builder.headers),
    authorization: resolveAuthorization(builder),
    loginOrLogout: resolveLoginOrLogout(builder, result, parameters),
    basicAuthentication: resolveBasicAuthentication(builder),
    events: resolveEvents(builder, path),
    userContext: overrides.userContext ?? options.authentication.useUserContext,
    tags: builder.tags,
    typedClient: resolveTypedClient(builder),
    upload,
    cache: resolveCachePolicy(builder, parameters, result),
    invalidates: share(resolveInvalidations(builder, known)),
    raw,
    requestHeaders: resolveRequestHeaders(builder, parameters, { bodyParameter, upload }),
    bodyParameter,
    ...resolveSimpleValues(builder),
    description: joinDescription(builder.description),
    volatility: routine.volatility,
    ...resolveRareMembers(builder, result, raw),
  };
}

function resolveFieldErrors({ routine, overrides, options }: EndpointBuilder): Pick<Endpoint, 'fieldErrors'> {
  const isListed = overrides.fieldErrors ?? options.fieldErrors !== false;
  if (!isListed || routine.dialect !== undefined) return {};
  const ofOption = typeof options.fieldErrors === 'number' ? options.fieldErrors : null;
  return { fieldErrors: { status: overrides.fieldErrorStatus ?? ofOption } };
}

function resolveComposites({ overrides: { nested }, options }: EndpointBuilder): EndpointOptions['compositeColumns'] {
  if (nested === null) return options.compositeColumns;
  return nested ? 'nested' : 'flat';
}

/** Returns the members that few endpoints have. */
function resolveRareMembers(
  builder: EndpointBuilder,
  result: Endpoint['result'],
  raw: Endpoint['raw'],
): Pick<
  Endpoint,
  | 'consistency'
  | 'idempotency'
  | 'fieldErrors'
  | 'largeNumbers'
  | 'outputConversion'
  | 'connectionReset'
  | 'definition'
  | 'dialect'
  | 'mcp'
> {
  const { routine, overrides, options } = builder;
  reportOutsideDialect(builder);
  const largeNumbers = overrides.largeNumbers ?? options.largeNumbers;
  return {
    ...resolveTool(overrides),
    ...(overrides.consistency === null ? {} : { consistency: overrides.consistency }),
    ...(overrides.idempotency === null ? {} : { idempotency: overrides.idempotency }),
    ...resolveOutputConversion(routine, result, raw),
    ...(largeNumbers === 'number' ? {} : { largeNumbers }),
    ...resolveFieldErrors(builder),
    ...(routine.dialect === undefined ? {} : { dialect: routine.dialect }),
    ...(overrides.connectionReset === null ? {} : { connectionReset: overrides.connectionReset }),
    ...(routine.definition === undefined ? {} : { definition: routine.definition }),
  };
}

/** Requests in a dialect have neither keys nor cached responses: a promise of the comment would be broken. */
function reportOutsideDialect(builder: EndpointBuilder): void {
  const { routine, overrides } = builder;
  if (routine.dialect === undefined) return;
  const key = overrides.idempotency !== null ? 'idempotency' : 'cached';
  if (overrides[key] === null) return;
  const annotation = key === 'cached' ? key : 'idempotent';
  const message = `${annotation} does not apply to tables in the dialect "${routine.dialect}"; remove it`;
  builder.reportAt(key, 'contradiction', message);
}

function resolveTool({
  mcp: included,
  mcpName: name,
  mcpTitle: title,
  mcpHints: hints,
}: EndpointBuilder['overrides']): Pick<Endpoint, 'mcp'> {
  const isAbsent = [included, name, title, hints].every((value) => value === null);
  return isAbsent ? {} : { mcp: { included, name, title, hints } };
}

const noMessages: Endpoint['constraintMessages'] = Object.freeze({});
const noItems: readonly never[] = Object.freeze([]);

/** Returns one list for all that are empty: with thousands of endpoints, each of their own costs memory and time. */
function share<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? noItems : items;
}

/** Returns the members that come directly from the comment, or else from the options. */
function resolveSimpleValues(
  builder: EndpointBuilder,
): Pick<
  Endpoint,
  | 'contentType'
  | 'rateLimit'
  | 'connection'
  | 'sensitive'
  | 'planCacheMode'
  | 'bufferRows'
  | 'responseSettings'
  | 'timeoutMs'
  | 'textResponseNullHandling'
  | 'queryStringNullHandling'
> {
  const { overrides, options, hashes } = builder;
  const responseSettings = resolveResponseSettings(builder);
  const holdsPassword = overrides.loginOrLogout !== null || hashes.length > 0;
  return {
    contentType: overrides.contentType,
    rateLimit: overrides.rateLimit === null ? options.rateLimits.defaultPolicy : overrides.rateLimit.policy,
    connection: overrides.connection,
    sensitive: overrides.sensitive ?? (holdsPassword && options.authentication.obfuscateAuthParameterLogValues),
    planCacheMode: overrides.planCacheMode,
    // The settings are known after the last row.
    bufferRows: responseSettings ? 1 : (overrides.bufferRows ?? options.bufferRows),
    responseSettings,
    timeoutMs: overrides.timeoutMs,
    textResponseNullHandling: overrides.textResponseNullHandling ?? options.textResponseNullHandling,
    queryStringNullHandling: overrides.queryStringNullHandling ?? options.queryStringNullHandling,
  };
}

/** Cached responses keep no status, and those of a login have their own. */
function resolveResponseSettings(builder: EndpointBuilder): boolean {
  const { overrides, options } = builder;
  const other = overrides.cached !== null ? 'cached' : overrides.loginOrLogout;
  if (other === null) return overrides.responseSettings ?? options.responseSettings;
  if (overrides.responseSettings === true) {
    const message = `response_settings does not apply to an endpoint with ${other}; remove one of the lines`;
    builder.reportAt('responseSettings', 'contradiction', message);
  }
  return false;
}

function warnOfTextOutputs(builder: EndpointBuilder): void {
  const outputs = findTextOutputs(builder.routine);
  if (outputs.length === 0) return;
  builder.report(
    'warning',
    'text-output',
    `${outputs.map(display).join(', ')}: the fields of a record are unknown before the call, so the response contains it as a string in PostgreSQL's text format; declare a composite type to get JSON`,
    null,
  );
}

/** A login needs no authorization. */
function resolveAuthorization({ access, options, overrides }: EndpointBuilder): Endpoint['authorization'] {
  if (overrides.loginOrLogout === 'login') return anyone;
  const required = access.required || (options.requiresAuthorization && access.anonymousIn === null);
  return access.roles.length === 0 ? (required ? signedIn : anyone) : { required, roles: access.roles };
}

const anyone: Endpoint['authorization'] = Object.freeze({ required: false, roles: noItems });
const signedIn: Endpoint['authorization'] = Object.freeze({ required: true, roles: noItems });

const defaultTypedClient: Endpoint['typedClient'] = Object.freeze({
  included: true,
  events: null,
  parseUrl: null,
  parseRequest: null,
  statusCode: null,
});
const typedClientOverrides = [
  'typedClient',
  'typedClientEvents',
  'typedClientParseUrl',
  'typedClientParseRequest',
  'typedClientStatusCode',
] as const;

function resolveTypedClient({ overrides }: EndpointBuilder): Endpoint['typedClient'] {
  if (typedClientOverrides.every((key) => overrides[key] === null)) return defaultTypedClient;
  return {
    included: overrides.typedClient ?? true,
    events: overrides.typedClientEvents,
    parseUrl: overrides.typedClientParseUrl,
    parseRequest: overrides.typedClientParseRequest,
    statusCode: overrides.typedClientStatusCode,
  };
}

/** Joins the prose of a comment, without the gaps that annotations leave. */
function joinDescription(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
