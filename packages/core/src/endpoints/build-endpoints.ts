import type { Routine } from '../catalog/routine.ts';
import type { Steps } from '../catalog/steps.ts';
import { tableKey } from '../catalog/table-name.ts';
import { cached } from './annotations/cache.ts';
import { isEnabled } from './annotations/enabled.ts';
import { endpointPath } from './annotations/http.ts';
import { idempotent } from './annotations/idempotent.ts';
import { internal } from './annotations/internal.ts';
import { largeNumbers } from './annotations/large-numbers.ts';
import { reportRequestTypes } from './request-types.ts';
import { reportTableFormat, takesTables } from './annotations/table-format.ts';
import { loginOrLogout } from './annotations/login.ts';
import { mcp } from './annotations/mcp.ts';
import { nested } from './annotations/nested.ts';
import { resolveLoginOrLogout } from './authentication.ts';
import { resolveChanges } from './changes.ts';
import { resolveAuthorization } from './authorization.ts';
import { type RoutineIndex, indexRoutines, resolveCachePolicy, resolveInvalidations } from './cache-policy.ts';
import { CommentTrace } from './comment/comment-trace.ts';
import { parseComment } from './comment/parse-comment.ts';
import { members } from './comment/registry.ts';
import type { ComposedMember, SimpleMember } from './comment/value-annotation.ts';
import { deepFreeze } from './deep-freeze.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import { excludeDuplicateRoutes } from './duplicate-routes.ts';
import { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { resolveEvents, excludeDuplicateStreams } from './events.ts';
import type { TracedRoutine } from './explanation.ts';
import { findIdempotencyFault } from './idempotency.ts';
import { resolveInjectedValues } from './injected-values.ts';
import { convertToNumberTexts } from './large-numbers.ts';
import { createColumnConverter, createTypeConverter } from './named-type.ts';
import { callNameOption } from './naming.ts';
import type { EndpointOptions } from './options.ts';
import { type NameConverter, buildParameters } from './parameters.ts';
import { resolveBodyParameter, resolveRequestHeaders } from './request-parameters.ts';
import { resolveResultShape, resolveOutputConversion, resolveRawFormat, findTextOutputs } from './result-shape.ts';
import { retryStrategy } from './annotations/retry-strategy.ts';
import { findRetryFault } from './retries/find-retry-fault.ts';
import { resolveRoute, resolveParameterSource, withBodyParameter } from './route.ts';
import { mergeTableDiagnostics, reportEmptyUpdate, type RoutineDiagnostic } from './table-diagnostics.ts';
import { describeFormats } from './row-formats.ts';
import { resolveTable } from './table.ts';
import { resolveUpload } from './upload.ts';
import { resolveValueQueries } from './value-query.ts';
import { resolveRules } from './validation/resolve-rules.ts';

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

interface BuiltEndpoint {
  readonly endpoint: Endpoint | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Endpoints of earlier loads with the same options, by routine. A source returns the same object for a routine that has not changed. */
export type BuiltEndpoints = WeakMap<Routine, BuiltEndpoint>;

export interface BuildOptions {
  /** Whether to record how each comment is read. */
  readonly explain: boolean;
  /** The endpoints of earlier loads with the same options. */
  readonly kept: BuiltEndpoints;
}

/**
 * Builds one endpoint per routine from its comment and the options, in the order of the routines. Omits endpoints with a
 * diagnostic of severity `error`. The endpoints and diagnostics are deeply frozen.
 */
export function* buildEndpoints(
  routines: readonly Routine[],
  options: EndpointOptions,
  { explain = false, kept = new WeakMap() }: Partial<BuildOptions> = {},
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
  let ownTables: ReadonlySet<string> | null = null;
  const buildOne = (routine: Routine): BuiltEndpoint => {
    const builder = new EndpointBuilder(routine, options, explain ? new CommentTrace() : null);
    let readsOthers = false;
    const others: OtherRoutines = {
      index: () => {
        readsOthers = true;
        return (index ??= indexRoutines(routines));
      },
      ownTables: () => {
        readsOthers = true;
        return (ownTables ??= listOwnTables(routines));
      },
    };
    const endpoint = buildEndpoint(builder, names, others);
    if (explain) traced.push({ builder, endpoint });
    const result = {
      endpoint: endpoint === null || builder.hasErrors ? null : deepFreeze(endpoint),
      diagnostics: builder.diagnostics,
    };
    if (routine.isKept === true && !readsOthers) kept.set(routine, result);
    return result;
  };
  for (const routine of routines) {
    const { endpoint, diagnostics: own } = (explain ? undefined : kept.get(routine)) ?? buildOne(routine);
    if (endpoint !== null) built.push(endpoint);
    for (const diagnostic of own) diagnostics.push({ routine, diagnostic });
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

/** Facts about all routines on which the endpoint of a single one depends. */
interface OtherRoutines {
  readonly index: () => RoutineIndex;
  /** The tables that have endpoints without a dialect, by what `tableKey` returns. */
  readonly ownTables: () => ReadonlySet<string>;
}

function listOwnTables(routines: readonly Routine[]): ReadonlySet<string> {
  return new Set(
    routines.filter(({ table, dialect }) => table?.operation === 'select' && dialect === undefined).map(tableKey),
  );
}

/** Returns null for a routine that is not published. An endpoint with errors in its builder must not be published. */
function buildEndpoint(builder: EndpointBuilder, names: NameConverter, others: OtherRoutines): Endpoint | null {
  const { routine } = builder;
  const commentsMode = routine.commentsMode ?? builder.options.commentsMode;
  if (commentsMode === 'ignore') describeComment(builder, routine.comment ?? '');
  else parseComment(builder, routine.comment ?? '');

  const isPublished = commentsMode !== 'onlyWithHttpTag' || builder.hasHttpAnnotation;
  // Without an endpoint, only the hints about its `HTTP` line matter.
  if (!isPublished) builder.diagnostics.length = 0;
  if (!builder.hasHttpAnnotation) builder.diagnostics.push(...builder.hints);
  if (!isPublished || builder.get(isEnabled) === false) return null;
  return checkSource(builder) && checkTypes(builder)
    ? withoutInternal(builder, reportRepetition(builder, assembleEndpoint(builder, names, others)))
    : null;
}

/** Returns null for an endpoint that no client may reach. Its comment has been checked. */
function withoutInternal(builder: EndpointBuilder, endpoint: Endpoint): Endpoint | null {
  if (builder.get(internal) !== true) return endpoint;
  if (builder.get(mcp) === true) {
    const line = builder.annotationFor(mcp)?.line ?? null;
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

function reportRepetition(builder: EndpointBuilder, endpoint: Endpoint): Endpoint {
  const fault = findIdempotencyFault(endpoint);
  if (fault !== null) {
    builder.reportAt(idempotent, 'idempotent', `idempotent: ${fault}`);
  }
  const retryFault = endpoint.retryDelaysMs === undefined ? null : findRetryFault(endpoint);
  if (retryFault !== null) builder.reportAt(retryStrategy, 'contradiction', `retry_strategy: ${retryFault}`);
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

function assembleEndpoint(builder: EndpointBuilder, names: NameConverter, others: OtherRoutines): Endpoint {
  const composed = assembleComposed(builder, names, others);
  const changes = resolveChanges(builder, composed.path, { ...names, ownTables: others.ownTables });
  if (changes !== null) Object.assign(composed, { changes: builder.record('changes', changes) });
  const endpoint = addMembers(builder, composed);
  reportOutsideDialect(builder);
  reportTableFormat(builder, endpoint);
  const { rowFormats } = builder.options;
  if (rowFormats === null || !takesTables(endpoint)) return endpoint;
  return Object.assign(endpoint, { documents: describeFormats(rowFormats) });
}

/** Resolves the members that depend on each other. */
function assembleComposed(
  builder: EndpointBuilder,
  plain: NameConverter,
  others: OtherRoutines,
): Pick<Endpoint, ComposedMember> {
  const { routine, options } = builder;
  const hasNumberTexts = (builder.get(largeNumbers) ?? options.largeNumbers) === 'string';
  const names = hasNumberTexts ? convertToNumberTexts(plain) : plain;
  const reportError = (code: string, message: string): void => builder.report('error', code, message, null);
  const route = resolveRoute(builder);
  const [method, path] = [builder.record('method', route.method), builder.record('path', route.path)];
  const reportPathError = (code: string, message: string): void => builder.reportAt(endpointPath, code, message);
  const own = buildParameters(routine, route.segments, names, { reportError, reportPathError });
  const injected = resolveRules(builder, resolveValueQueries(builder, resolveInjectedValues(builder, own)));
  reportRequestTypes(builder, injected);
  const source = resolveParameterSource(builder, method);
  const { parameters, table } = resolveTable(builder, injected, source.value);
  const reportWarning = (code: string, message: string): void => builder.report('warning', code, message, null);
  // The row of a login must not have duplicate columns.
  const reporters = { reportError, reportWarning: builder.isSet(loginOrLogout) ? reportError : reportWarning };
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
    parameterSource: builder.record('parameterSource', withBodyParameter(builder, source, bodyParameter)),
    parameters,
    rejectsUnknownKeys: /^(?:update|delete)/.test(routine.table?.operation ?? ''),
    outputs: share(routine.outputs.map(({ name, before }) => ({ name, before }))),
    table,
    constraintMessages: routine.table?.constraintMessages ?? noMessages,
    result,
    responseHeaders: share(builder.headers),
    authorization: builder.record('authorization', resolveAuthorization(builder)),
    loginOrLogout: resolveLoginOrLogout(builder, result, parameters),
    events: resolveEvents(builder, path),
    tags: builder.tags,
    upload,
    cache: builder.record('cache', resolveCachePolicy(builder, parameters, result)),
    invalidates: share(resolveInvalidations(builder, others.index)),
    raw,
    requestHeaders: builder.record(
      'requestHeaders',
      resolveRequestHeaders(builder, parameters, { bodyParameter, upload }),
    ),
    bodyParameter,
    description: joinDescription(builder.description),
    volatility: routine.volatility,
    ...resolveOutputConversion(routine, result, raw),
    ...copySourceFacts(routine),
  };
}

/** Members that few sources give. */
function copySourceFacts({
  dialect,
  definition,
  isReadThroughout,
}: Routine): Pick<Endpoint, 'dialect' | 'definition' | 'isReadThroughout'> {
  return {
    ...(dialect === undefined ? {} : { dialect }),
    ...(isReadThroughout === undefined ? {} : { isReadThroughout }),
    ...(definition === undefined ? {} : { definition }),
  };
}

function resolveComposites(builder: EndpointBuilder): EndpointOptions['compositeColumns'] {
  const isNested = builder.get(nested);
  if (isNested === null) return builder.options.compositeColumns;
  return isNested ? 'nested' : 'flat';
}

/**
 * Adds the members that annotations resolve. Members that few endpoints have are absent in the others. The object is not copied: V8
 * makes a dictionary of a copy with so many added properties, which takes three times the memory.
 */
function addMembers(builder: EndpointBuilder, composed: Pick<Endpoint, ComposedMember>): Endpoint {
  const values: { [Member in SimpleMember]?: unknown } & typeof composed = composed;
  for (const { member, resolve } of members) {
    const value = builder.record<unknown>(member, resolve(builder));
    if (value !== undefined) values[member] = value;
  }
  return composed as Endpoint;
}

/** Requests in a dialect have neither keys nor cached responses: a promise of the comment would be broken. */
function reportOutsideDialect(builder: EndpointBuilder): void {
  const { dialect } = builder.routine;
  if (dialect === undefined) return;
  const setting = [idempotent, cached].find((each) => builder.isSet(each));
  if (setting === undefined) return;
  const message = `${setting.names[0]} does not apply to tables in the dialect "${dialect}"; remove it`;
  builder.reportAt(setting, 'contradiction', message);
}

const noMessages: Endpoint['constraintMessages'] = Object.freeze({});
const noItems: readonly never[] = Object.freeze([]);

/** Returns one list for all that are empty: with thousands of endpoints, each of their own costs memory and time. */
function share<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? noItems : items;
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

/** Joins the prose of a comment, without the gaps that annotations leave. */
function joinDescription(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
