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
  const names: NameConverter = { convert, keyed: createTypeConverter(convert) };
  const known = indexRoutines(routines);
  for (const routine of routines) {
    const draft = new EndpointBuilder(routine, options);
    const endpoint = planEndpoint(draft, names, known);
    if (endpoint !== null && !draft.stopped) planned.push(endpoint);
    said.push(...draft.diagnostics.map((diagnostic) => ({ routine, diagnostic })));
  }
  const routed = excludeDuplicateRoutes(planned);
  const streamed = excludeDuplicateStreams(routed.endpoints);
  return deepFreeze({
    endpoints: streamed.endpoints,
    diagnostics: [...mergeTableDiagnostics(said), ...routed.diagnostics, ...streamed.diagnostics],
  });
}

/** Null for a routine that is to be no endpoint; a draft with errors gives none that may be published. */
function planEndpoint(draft: EndpointBuilder, names: NameConverter, known: RoutineIndex): Endpoint | null {
  const { routine } = draft;
  const commentsMode = routine.commentsMode ?? draft.options.commentsMode;
  if (commentsMode === 'ignore') draft.description.push(routine.comment ?? '');
  else parseComment(draft, routine.comment ?? '');

  const wanted = commentsMode !== 'onlyWithHttpTag' || draft.tagged;
  // What was said of the `HTTP` line matters most when there is no endpoint; the rest of such a comment is no business of ours.
  if (!wanted) draft.diagnostics.length = 0;
  if (!draft.tagged) draft.diagnostics.push(...draft.hints);
  if (!wanted || !draft.settings.enabled) return null;
  return callable(draft) ? assemble(draft, names, known) : null;
}

/** Types such as `anyelement` or `internal` have no values that a request could give, and `trigger` none for an answer. */
function callable(draft: EndpointBuilder): boolean {
  const { routine } = draft;
  const pseudo = routine.parameters.find((parameter) => parameter.type.kind === 'pseudo');
  if (pseudo === undefined) return answerable(draft);
  draft.report(
    // Nobody asked for this one when all routines are published; an author who wrote HTTP did.
    draft.tagged ? 'error' : 'warning',
    'uncallable-type',
    `no request can give a value of type ${pseudo.type.display} (parameter ${display(pseudo.name ?? `$${pseudo.position}`)}); the routine is not published`,
    null,
  );
  return false;
}

function answerable(draft: EndpointBuilder): boolean {
  const { result } = draft.routine;
  if (result.kind !== 'scalar' || result.columns[0]?.type.kind !== 'pseudo') return true;
  // Among all routines there are triggers, and nobody wonders where those are.
  if (draft.tagged) {
    const message = `no request can be answered with a value of type ${result.display}; the routine is not published`;
    draft.report('error', 'uncallable-type', message, null);
  }
  return false;
}

function assemble(draft: EndpointBuilder, names: NameConverter, known: RoutineIndex): Endpoint {
  const { routine, options, settings } = draft;
  const refuse = (code: string, message: string): void => draft.report('error', code, message, null);
  const { method, path, segments } = resolveRoute(draft, refuse);
  const given = resolveInjectedValues(draft, buildParameters(routine, segments, names, refuse));
  const source = resolveParameterSource(draft, method);
  const { parameters, table } = resolveTable(draft, given, source);
  const warn = (code: string, message: string): void => draft.report('warning', code, message, null);
  // A row that says who signs in may say nothing twice.
  const reports = { refuse, warn: settings.signIn === null ? warn : refuse };
  const answer = resolveResultShape(routine, names, options.compositeColumns, reports);
  const raw = resolveRawFormat(draft, answer);
  const bodyParameter = resolveBodyParameter(draft, parameters);
  if (raw === null) warnOfText(draft);
  reportEmptyUpdate(draft);
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
    responseHeaders: draft.headers,
    authorization: authorization(draft),
    signIn: resolveSignIn(draft, answer, parameters),
    basicAuthentication: resolveBasicAuthentication(draft),
    events: resolveEvents(draft, path, refuse),
    userContext: settings.userContext ?? options.authentication.useUserContext,
    tags: draft.tags,
    typedClient: clientWishes(draft),
    upload: null,
    cache: resolveCachePolicy(draft, parameters, answer),
    invalidates: resolveInvalidations(draft, known),
    raw,
    requestHeaders: resolveRequestHeaders(draft, parameters, bodyParameter),
    bodyParameter,
    ...simpleSettings(draft),
    description: description(draft.description),
    volatility: routine.volatility,
    ...(settings.connectionReset === null ? {} : { connectionReset: settings.connectionReset }),
    ...(routine.definition === undefined ? {} : { definition: routine.definition }),
  };
}

/** What the comment sets as it is, or else the host's option. */
function simpleSettings({
  settings,
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
  const holdsPassword = settings.signIn !== null || hashes.length > 0;
  return {
    contentType: settings.contentType,
    connection: settings.connection,
    sensitive: settings.sensitive ?? (holdsPassword && options.authentication.obfuscateAuthParameterLogValues),
    planCacheMode: settings.planCacheMode,
    bufferRows: settings.bufferRows ?? options.bufferRows,
    timeoutMs: settings.timeout,
    textResponseNullHandling: settings.textNull ?? options.textResponseNullHandling,
    queryStringNullHandling: settings.queryNull ?? options.queryStringNullHandling,
  };
}

function warnOfText(draft: EndpointBuilder): void {
  const outputs = findTextOutputs(draft.routine);
  if (outputs.length === 0) return;
  draft.report(
    'warning',
    'text-output',
    `${outputs.map(display).join(', ')}: nobody but the call knows the fields of a record, so it is answered as a string of PostgreSQL's text; a composite type is answered as JSON`,
    null,
  );
}

/** Who signs in is nobody yet. */
function authorization({ access, options, settings }: EndpointBuilder): Endpoint['authorization'] {
  if (settings.signIn === 'login') return { required: false, roles: [] };
  const required = access.required || (options.requiresAuthorization && access.anonymousIn === null);
  return { required, roles: access.roles };
}

function clientWishes({ settings }: EndpointBuilder): Endpoint['typedClient'] {
  return {
    included: settings.client ?? true,
    events: settings.clientEvents,
    parseUrl: settings.clientParseUrl,
    parseRequest: settings.clientParseRequest,
    statusCode: settings.clientStatusCode,
  };
}

/** The prose of a comment; where annotations stood there is no hole left. */
function description(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
