import type { Routine } from '../catalog/routine.ts';
import { resolveResultShape, resolveOutputConversion, resolveRawFormat, findTextOutputs } from './result-shape.ts';
import { type RoutineIndex, indexRoutines, resolveCachePolicy, resolveInvalidations } from './cache-policy.ts';
import { resolveBodyParameter, resolveRequestHeaders } from './request-parameters.ts';
import { parseComment } from './comment/parse-comment.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { resolveEvents, excludeDuplicateStreams } from './events.ts';
import { deepFreeze } from './deep-freeze.ts';
import { callNameOption } from './naming.ts';
import { createTypeConverter } from './named-type.ts';
import type { EndpointOptions } from './options.ts';
import { type NameConverter, buildParameters } from './parameters.ts';
import { resolveBasicAuthentication, resolveSignIn } from './sign-in.ts';
import { resolveInjectedValues } from './injected-values.ts';
import { resolveRoute, resolveParameterSource } from './route.ts';
import { excludeDuplicateRoutes } from './duplicate-routes.ts';
import { resolveTable } from './table.ts';
import { mergeTableDiagnostics, reportEmptyUpdate, type RoutineDiagnostic } from './table-diagnostics.ts';

/** What is published, and what authors should know. */
export interface BuildResult {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Decides what is published: one endpoint a routine, as its comment and the host's options say. An endpoint with a
 * diagnostic of severity error is not among the result. The order of routines is kept; everything is frozen.
 */
export function buildEndpoints(routines: readonly Routine[], options: EndpointOptions): BuildResult {
  const said: RoutineDiagnostic[] = [];
  const planned: Endpoint[] = [];
  const { nameConverter } = options;
  const convert = (name: string): string => callNameOption('nameConverter', name, () => nameConverter(name));
  const names: NameConverter = { convertName: convert, convertType: createTypeConverter(convert) };
  const known = indexRoutines(routines);
  for (const routine of routines) {
    const builder = new EndpointBuilder(routine, options);
    const endpoint = planEndpoint(builder, names, known);
    if (endpoint !== null && !builder.hasErrors) planned.push(endpoint);
    said.push(...builder.diagnostics.map((diagnostic) => ({ routine, diagnostic })));
  }
  const routed = excludeDuplicateRoutes(planned);
  const streamed = excludeDuplicateStreams(routed.endpoints);
  return deepFreeze({
    endpoints: streamed.endpoints,
    diagnostics: [...mergeTableDiagnostics(said), ...routed.diagnostics, ...streamed.diagnostics],
  });
}

/** Null for a routine that is to be no endpoint; a builder with errors gives none that may be published. */
function planEndpoint(builder: EndpointBuilder, names: NameConverter, known: RoutineIndex): Endpoint | null {
  const { routine } = builder;
  const commentsMode = routine.commentsMode ?? builder.options.commentsMode;
  if (commentsMode === 'ignore') builder.description.push(routine.comment ?? '');
  else parseComment(builder, routine.comment ?? '');

  const wanted = commentsMode !== 'onlyWithHttpTag' || builder.hasHttpAnnotation;
  // What was said of the `HTTP` line matters most when there is no endpoint; the rest of such a comment is no business of ours.
  if (!wanted) builder.diagnostics.length = 0;
  if (!builder.hasHttpAnnotation) builder.diagnostics.push(...builder.hints);
  if (!wanted || !builder.overrides.enabled) return null;
  return callable(builder) ? assemble(builder, names, known) : null;
}

/** Types such as `anyelement` or `internal` have no values that a request could give, and `trigger` none for an answer. */
function callable(builder: EndpointBuilder): boolean {
  const { routine } = builder;
  const pseudo = routine.parameters.find((parameter) => parameter.type.kind === 'pseudo');
  if (pseudo === undefined) return answerable(builder);
  builder.report(
    // Nobody asked for this one when all routines are published; an author who wrote HTTP did.
    builder.hasHttpAnnotation ? 'error' : 'warning',
    'uncallable-type',
    `no request can give a value of type ${pseudo.type.display} (parameter ${display(pseudo.name ?? `$${pseudo.position}`)}); the routine is not published`,
    null,
  );
  return false;
}

function answerable(builder: EndpointBuilder): boolean {
  const { result } = builder.routine;
  if (result.kind !== 'scalar' || result.columns[0]?.type.kind !== 'pseudo') return true;
  // Among all routines there are triggers, and nobody wonders where those are.
  if (builder.hasHttpAnnotation) {
    const message = `no request can be answered with a value of type ${result.display}; the routine is not published`;
    builder.report('error', 'uncallable-type', message, null);
  }
  return false;
}

function assemble(builder: EndpointBuilder, names: NameConverter, known: RoutineIndex): Endpoint {
  const { routine, options, overrides } = builder;
  const refuse = (code: string, message: string): void => builder.report('error', code, message, null);
  const { method, path, segments } = resolveRoute(builder, refuse);
  const given = resolveInjectedValues(builder, buildParameters(routine, segments, names, refuse));
  const source = resolveParameterSource(builder, method);
  const { parameters, table } = resolveTable(builder, given, source);
  const warn = (code: string, message: string): void => builder.report('warning', code, message, null);
  // A row that says who signs in may say nothing twice.
  const reports = { refuse, warn: overrides.signIn === null ? warn : refuse };
  const answer = resolveResultShape(routine, names, options.compositeColumns, reports);
  const raw = resolveRawFormat(builder, answer);
  const bodyParameter = resolveBodyParameter(builder, parameters);
  if (raw === null) warnOfText(builder);
  reportEmptyUpdate(builder);
  return {
    id: routine.signature,
    source: routine.source ?? 'functions',
    kind: routine.kind,
    schema: routine.schema,
    name: routine.name,
    method,
    path,
    // What the body is not asked for can only come from the query.
    parameterSource: bodyParameter === null ? source : 'query',
    parameters,
    rejectsUnknownKeys: /^(?:update|delete)/.test(routine.table?.operation ?? ''),
    outputs: routine.outputs.map(({ name, before }) => ({ name, before })),
    ...resolveOutputConversion(routine, answer, raw),
    table,
    constraintMessages: routine.table?.constraintMessages ?? {},
    result: answer,
    responseHeaders: builder.headers,
    authorization: authorization(builder),
    signIn: resolveSignIn(builder, answer, parameters),
    basicAuthentication: resolveBasicAuthentication(builder),
    events: resolveEvents(builder, path, refuse),
    userContext: overrides.userContext ?? options.authentication.useUserContext,
    tags: builder.tags,
    typedClient: clientWishes(builder),
    upload: null,
    cache: resolveCachePolicy(builder, parameters, answer),
    invalidates: resolveInvalidations(builder, known),
    raw,
    requestHeaders: resolveRequestHeaders(builder, parameters, bodyParameter),
    bodyParameter,
    ...simpleSettings(builder),
    description: description(builder.description),
    volatility: routine.volatility,
    ...(overrides.connectionReset === null ? {} : { connectionReset: overrides.connectionReset }),
    ...(routine.definition === undefined ? {} : { definition: routine.definition }),
  };
}

/** What the comment sets as it is, or else the host's option. */
function simpleSettings({
  overrides,
  options,
  hashes,
}: EndpointBuilder): Pick<
  Endpoint,
  | 'contentType'
  | 'connection'
  | 'sensitive'
  | 'planCacheMode'
  | 'bufferRows'
  | 'timeoutMs'
  | 'textResponseNullHandling'
  | 'queryStringNullHandling'
> {
  const holdsPassword = overrides.signIn !== null || hashes.length > 0;
  return {
    contentType: overrides.contentType,
    connection: overrides.connection,
    sensitive: overrides.sensitive ?? (holdsPassword && options.authentication.obfuscateAuthParameterLogValues),
    planCacheMode: overrides.planCacheMode,
    bufferRows: overrides.bufferRows ?? options.bufferRows,
    timeoutMs: overrides.timeoutMs,
    textResponseNullHandling: overrides.textResponseNullHandling ?? options.textResponseNullHandling,
    queryStringNullHandling: overrides.queryStringNullHandling ?? options.queryStringNullHandling,
  };
}

function warnOfText(builder: EndpointBuilder): void {
  const outputs = findTextOutputs(builder.routine);
  if (outputs.length === 0) return;
  builder.report(
    'warning',
    'text-output',
    `${outputs.map(display).join(', ')}: nobody but the call knows the fields of a record, so it is answered as a string of PostgreSQL's text; a composite type is answered as JSON`,
    null,
  );
}

/** Who signs in is nobody yet. */
function authorization({ access, options, overrides }: EndpointBuilder): Endpoint['authorization'] {
  if (overrides.signIn === 'login') return { required: false, roles: [] };
  const required = access.required || (options.requiresAuthorization && access.anonymousIn === null);
  return { required, roles: access.roles };
}

function clientWishes({ overrides }: EndpointBuilder): Endpoint['typedClient'] {
  return {
    included: overrides.typedClient ?? true,
    events: overrides.typedClientEvents,
    parseUrl: overrides.typedClientParseUrl,
    parseRequest: overrides.typedClientParseRequest,
    statusCode: overrides.typedClientStatusCode,
  };
}

/** The prose of a comment; where annotations stood there is no hole left. */
function description(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
