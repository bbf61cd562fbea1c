import { readPaths } from '../parse/read-paths.ts';
import { authorize, type ProtectedEndpoint } from '../../auth/authorize.ts';
import { withCallerHeaders } from '../../auth/caller-headers.ts';
import { firstClaim } from '../../auth/claims.ts';
import { toIdentityKey } from '../../events/execution-id.ts';
import { sseComment } from '../../events/stream-event.ts';
import type { Feed } from '../../events/feed.ts';
import type { Subscriber } from '../../events/subscriber.ts';
import { Problem } from '../../http/problem.ts';
import { parseQueryString } from '../../http/query-string.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { ChangeQuery, ChangeRequest, ChangeSubscription } from '../../ports/changes.ts';
import type { Caller, ChangeStatements } from '../../ports/ports.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { EndpointChanges } from '../../endpoints/row-changes.ts';
import type { RequestInput } from '../../ports/request-input.ts';
import type { MaybeLimitedRequest } from '../admit.ts';
import { bind } from '../bind/bind.ts';
import { type ExecutableCall, toQueryContext } from '../build-query.ts';
import { selectRole } from '../call-connection.ts';
import type { CompiledEndpoint } from '../compiled-endpoint.ts';
import { noHooks, runHooks } from '../hooks.ts';
import { type InjectedCall, type InjectOptions, injectValues } from '../inject.ts';
import type { RequestPipeline } from '../pipeline.ts';
import { type Handled, observeHandled } from '../request-observation.ts';
import { checkUriLength } from '../route-lookup.ts';
import { type FailedAttempt, isStale, toFailedAttempt } from '../stale-endpoint.ts';
import { toForbiddenEvent, toIdComment, toServerSentEvents } from './change-events.ts';
import { toChangeIdentity } from './change-identity.ts';

/** A subscription that a request asks for. */
interface RequestedChanges {
  readonly request: ChangeRequest;
  readonly call: ExecutableCall;
}

/** Opens the stream of changes of an endpoint, and reports its request. A failed attempt is reported by its caller. */
export async function openChanges(
  target: CompiledEndpoint,
  { request, limited }: MaybeLimitedRequest,
  pipeline: RequestPipeline,
): Promise<Handled | FailedAttempt> {
  const { endpoint } = target;
  let caller: Caller | null = null;
  let input: RequestInput | null = null;
  let call: ExecutableCall | null = null;
  try {
    checkUriLength(request, pipeline.maxUriLength);
    const identify = (): Promise<Identified> => authorizeChanges(target, request, pipeline);
    ({ caller } = await (limited === null ? identify() : limited.admit(identify)));
    const read = readInput(target, request);
    ({ input } = read);
    const requested = buildRequest(target, { ...read, request, caller }, pipeline);
    ({ call } = requested);
    const { hooks } = pipeline;
    const hooked = hooks === null ? noHooks : await runHooks(hooks, call, { request, caller }, pipeline);
    if (hooked.response !== null) return { response: withCallerHeaders(hooked.response, caller), call, caller };
    const response = await openStream(target, requested, { request, caller }, pipeline);
    observeHandled(pipeline, { ...observedStream(endpoint), request, endpoint, targets: [target], caller });
    return { response, call: null, caller };
  } catch (error) {
    return toFailedAttempt(error, { pipeline, targets: [target], call, caller, input });
  }
}

/** Returns what tells a request for a stream from one for rows. */
export function observedStream({ changes }: Endpoint): { readonly route: string; readonly isEventStream: true } {
  return { route: changes!.path, isEventStream: true };
}

/** A client comes back when the endpoints have been read again. */
export function toStreamError(error: unknown): unknown {
  if (!isStale(error)) return error;
  return new Problem('changes-unavailable', {
    detail: 'The table has changed since its endpoints were loaded; they are loaded again.',
    headers: ['retry-after', '5'],
    cause: error,
  });
}

interface Identified {
  readonly caller: Caller | null;
}

/** @throws Problem 401, 403 */
function authorizeChanges(
  { endpoint, endpointScheme }: CompiledEndpoint,
  request: GatewayRequest,
  { access }: Pick<RequestPipeline, 'access'>,
): Promise<Identified> {
  const target: ProtectedEndpoint = { endpoint, needsCaller: true, changesData: false, endpointScheme };
  return authorize([target], request, access);
}

interface ChangesInput {
  readonly input: RequestInput;
  readonly hasSnapshot: boolean;
}

/** Reads the query string: the filters of the endpoint, and `snapshot`, which begins with `$` when a column has the name. */
function readInput({ endpoint }: CompiledEndpoint, request: GatewayRequest): ChangesInput {
  const values = parseQueryString(request.query);
  const isTaken = endpoint.parameters.some(({ key, name }) => key === 'snapshot' || name === 'snapshot');
  const key = isTaken ? '$snapshot' : 'snapshot';
  const given = values.get(key);
  values.delete(key);
  const text = given?.at(-1) ?? 'false';
  if (!['true', 'false'].includes(text) || (given?.length ?? 0) > 1)
    throw new Problem('invalid-parameter', {
      detail: `"${key}" is true or false, once: with true, the stream begins with the rows that there are.`,
      members: { parameters: [key] },
    });
  return { input: { source: 'query', values, body: null }, hasSnapshot: text === 'true' };
}

const noPath: ReadonlyMap<string, string> = new Map();

function buildRequest(
  target: CompiledEndpoint,
  {
    input,
    hasSnapshot,
    request,
    caller,
  }: ChangesInput & { readonly request: GatewayRequest; readonly caller: Caller | null },
  pipeline: IdentityContext,
): RequestedChanges {
  const { endpoint } = target;
  const changes = endpoint.changes!;
  const bound = bind([target], { input, path: noPath, ignoreUnknown: pipeline.ignoreUnknown });
  const injected = injectValues(bound, { request, caller }, pipeline);
  const { parameters, values, settings } = injected;
  const context = toQueryContext(injected, { request, caller }, pipeline);
  const statements = target.changesBuilder!({
    endpoint,
    parameters,
    values,
    request,
    body: null,
    paths: readPaths(endpoint, input),
    context,
  });
  return {
    call: toCall(injected, statements),
    request: {
      query: toQuery(target, statements),
      identity: toChangeIdentity(settings, selectRole(pipeline, injected), {
        caller,
        keys: pipeline.contextKeys,
        byAddress: changes.byAddress,
      }),
      operations: changes.operations,
      withOld: changes.old,
      withUnchanged: false,
      route: toRoute(changes.by, caller),
      gapOn: changes.gapOn,
      snapshot: hasSnapshot ? toSnapshot(statements.snapshot) : null,
      lastEventId: request.header('last-event-id') ?? null,
    },
  };
}

/** Returns the lookup as a call, whose errors name the parameters of the request. */
function toCall(injected: InjectedCall, { lookup, toError }: ChangeStatements): ExecutableCall {
  const { sql, values, valueSources } = lookup;
  const keys = valueSources.slice(values.length).map(() => null);
  return {
    ...injected,
    statement: { name: '', sql },
    arguments: [...keys, ...values],
    valueSources,
    headerQuery: null,
    noRowProblem: null,
    rowResponse: null,
    isReadOnly: false,
    mayCache: false,
    toError: toError ?? null,
  };
}

function toQuery({ endpoint, sessionUse }: CompiledEndpoint, { lookup, keys, columns }: ChangeStatements): ChangeQuery {
  const { relation, key } = endpoint.changes!;
  return {
    relation,
    keyColumns: key.map(({ column }) => column),
    sql: lookup.sql,
    values: lookup.values.map(toText),
    keys,
    columns: columns ?? (endpoint.result.kind === 'objects' ? endpoint.result.columns : []),
    // Functions that write may keep what they have found for the rest of the transaction.
    altersTransaction: sessionUse.altersTransaction || sessionUse.mayBlock,
    altersSession: sessionUse.alters,
  };
}

function toRoute(by: EndpointChanges['by'], caller: Caller | null): ChangeRequest['route'] {
  if (by === null) return null;
  return { column: by.column, value: caller === null ? null : firstClaim(caller.claims, by.claim) };
}

function toSnapshot({ sql, values }: ChangeStatements['snapshot']): ChangeRequest['snapshot'] {
  return { sql: typeof sql === 'string' ? sql : sql(), values: values.map(toText) };
}

function toText(value: string | Uint8Array | null): string | null {
  return value === null || typeof value === 'string' ? value : Buffer.from(value).toString();
}

/** What a subscription needs of the pipeline as long as it lasts: a refresh makes another pipeline. */
type IdentityContext = InjectOptions & Pick<RequestPipeline, 'access' | 'ignoreUnknown'>;

function toIdentityContext(pipeline: RequestPipeline): IdentityContext {
  const { access, ignoreUnknown, requestHeaders, sessionSettings, claimTypes, contextKeys, databaseRole } = pipeline;
  return { access, ignoreUnknown, requestHeaders, sessionSettings, claimTypes, contextKeys, databaseRole };
}

/** Returns whether rows are still read under the identity of the subscription. @throws Problem 401, 403 */
async function isUnchanged(
  target: CompiledEndpoint,
  identityKey: string,
  { request, caller }: { readonly request: GatewayRequest; readonly caller: Caller | null },
  context: IdentityContext,
): Promise<boolean> {
  const { claimTypes } = context;
  const { caller: again } = await authorizeChanges(target, request, context);
  if (toIdentityKey(again, claimTypes) !== toIdentityKey(caller, claimTypes)) return false;
  const requested = buildRequest(target, { ...readInput(target, request), request, caller: again }, context);
  return requested.request.identity.key === identityKey;
}

/** Bytes of the changes that a client which comes back may have missed. */
const maxReplayBytes = 64 * 1024 * 1024;

/** @throws Problem for a caller with too many streams; the error of PostgreSQL that refuses the query */
async function openStream(
  target: CompiledEndpoint,
  { request: changeRequest }: RequestedChanges,
  { request, caller }: { readonly request: GatewayRequest; readonly caller: Caller | null },
  pipeline: RequestPipeline,
): Promise<GatewayResponse> {
  const { endpoint } = target;
  const { streams, changes: feed } = pipeline;
  const context = toIdentityContext(pipeline);
  // The request itself is long, and the stream keeps what its functions use.
  const { key: identityKey } = changeRequest.identity;
  const headers = [...streams.headers, ...(caller?.headers ?? [])];
  if (request.method === 'HEAD') return { kind: 'whole', status: 200, headers, body: null };
  if (feed === null) throw new Problem('changes-unavailable');
  let subscription: ChangeSubscription | null = null;
  const opened: Feed = {
    path: endpoint.changes!.path,
    endpoint,
    request,
    caller,
    heartbeat: () => (subscription === null ? sseComment : toIdComment(subscription.lastId)),
    reauthorize: () => isUnchanged(target, identityKey, { request, caller }, context),
    closed: () => subscription?.cancel(),
  };
  const subscriber: Subscriber = streams.openFeed(opened, maxReplayBytes);
  request.onDisconnect(() => subscriber.cancel());
  subscriber.push(sseComment);
  try {
    subscription = await feed.subscribe(changeRequest, {
      message: (message) => {
        const count = message.kind === 'changes' ? message.changes.length : 0;
        streams.sendToFeed(subscriber, toServerSentEvents(message, endpoint), count);
      },
      ended: (reason) => {
        if (reason === 'forbidden') subscriber.push(toForbiddenEvent(endpoint));
        subscriber.end(reason === 'closing' ? 'closing' : 'unpublished');
      },
    });
  } catch (error) {
    subscriber.cancel();
    throw error;
  }
  if (subscriber.isDisconnected) subscription.cancel();
  return { kind: 'stream', status: 200, headers, body: subscriber };
}
