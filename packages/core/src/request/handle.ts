import type { GatewayRequest } from '../http/request.ts';
import { type Handle, cancelOnThrow, type GatewayResponse } from '../http/response.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import { handleError } from './error-handler.ts';
import type { Pipeline } from './pipeline.ts';
import { type RefreshStaleEndpoint, isStale, canRetry } from './stale-endpoint.ts';
import { bind } from './bind/bind.ts';
import { executeCached } from './cache/cached-execution.ts';
import { authorize, isPublic, refuseAnonymousCrossSite } from '../auth/authorize.ts';
import { parseInput, type RequestInput } from './parse/parse-input.ts';
import { lookUpRoute, checkUriLength } from './route-lookup.ts';
import { injectValues } from './inject.ts';
import { buildQuery, buildCustomQuery, type ExecutableCall, logCommand } from './build-query.ts';
import { runHooks } from './hooks.ts';
import type { Caller } from '../ports/ports.ts';
import { respond } from './respond.ts';
import { hashParameters } from '../auth/hash-parameters.ts';
import { loginOrLogout } from './login.ts';
import { respondWithoutCall } from './responses-without-call.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';

/** Answers requests with what is published; where that is stale, with what a refresh gives, once. */
export function createHandle(pipeline: () => Pipeline, heal: RefreshStaleEndpoint): Handle {
  return async (request) => {
    // A refresh swaps the pipeline; an attempt stays with the one it began with.
    const first = await attempt(request, pipeline(), null);
    if ('response' in first) return first.response;
    const second = await repeated(first, request, heal);
    if ('response' in second) return second.response;
    const { error, caller, current } = second;
    return withCallerHeaders(await handleError(error, request, second, current), caller);
  };
}

async function repeated(first: Refused, request: GatewayRequest, heal: RefreshStaleEndpoint): Promise<Attempt> {
  const { error, call, current, given } = first;
  if (call === null || !isStale(error)) return first;
  const { endpoint } = call.candidate;
  const next = await heal(current, endpoint, error);
  return next !== null && canRetry(error, endpoint, current) ? attempt(request, next, given) : first;
}

/**
 * The recipe of a request: match → admit → collect → bind → fill → formulate → recall → execute → respond. Every stage gives its product or throws.
 * @param earlier what the client has sent, where an earlier attempt has read it
 */
export async function attempt(
  request: GatewayRequest,
  current: Pipeline,
  earlier: RequestInput | null,
): Promise<Attempt> {
  const routed = lookUpRoute(request, current);
  if (routed.kind !== 'match') return { response: await respondWithoutCall(routed, request, current) };
  let call: ExecutableCall | null = null;
  let caller: Caller | null = null;
  let given: RequestInput | null = null;
  try {
    checkUriLength(request, current.maxUriLength);
    const { access } = current;
    let candidates = routed.targets;
    if (isPublic(candidates, access)) refuseAnonymousCrossSite(candidates, request, access);
    else ({ candidates, caller } = await authorize(candidates, request, access));
    const collected = parseInput(earlier, request, candidates[0]!.endpoint, current.maxBodySize);
    given = collected instanceof Promise ? await collected : collected;
    const bound = bind(candidates, { input: given, path: routed.path, ignoreUnknown: current.ignoreUnknown });
    const filled = injectValues(bound, { request, caller }, current);
    const ready = filled.candidate.hashesParameters ? await hashParameters(filled, request, current.login) : filled;
    const { queryBuilder: make, endpoint } = ready.candidate;
    call = make === null ? buildQuery(ready) : await buildCustomQuery(ready, make, request);
    if (current.logsCommands) logCommand(current.observe, call, request);
    const answer = current.hooks === null ? null : await runHooks(current.hooks, call, request);
    if (answer !== null) return { response: withCallerHeaders(answer, caller) };
    if (endpoint.signIn !== null) return { response: await loginOrLogout(current, call, { request, caller }) };
    const { format, writeHeaders: head } = call.candidate.selectRepresentation(request.header('accept'));
    const headers = head(call);
    const outcome = await executeCached(current, { call, format, request, caller }, caller);
    const respondNow = () => withCallerHeaders(respond(request, { format, headers, outcome }), caller);
    return { response: cancelOnThrow(outcome, respondNow) };
  } catch (error) {
    return { error, current, targets: routed.targets, call, caller, given };
  }
}

/** Where a request was refused, and what had been made of it. */
export interface Refused {
  readonly error: unknown;
  readonly current: Pipeline;
  readonly targets: readonly CompiledEndpoint[];
  readonly call: ExecutableCall | null;
  readonly caller: Caller | null;
  readonly given: RequestInput | null;
}

export type Attempt = { readonly response: GatewayResponse | undefined } | Refused;
