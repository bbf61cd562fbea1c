import { randomUUID } from 'node:crypto';
import { Cancelled } from '../database/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, Handle } from '../http/response.ts';
import type { Endpoint } from '../plan/endpoint.ts';
import type { Routed, Router } from '../router/router.ts';
import { bind } from './bind/bind.ts';
import { openStream, streamMethods } from './events/open-stream.ts';
import type { StreamPlan } from './events/stream.ts';
import { type Access, admit, open } from './caller/admit.ts';
import { recall, type Recalling } from './cache/recall.ts';
import { renewing } from './caller/renewing.ts';
import { collect } from './collect/collect.ts';
import { databaseOf } from './execute.ts';
import { fill, type FillOptions } from './fill.ts';
import { formulate, formulateAnew, type Formulated } from './formulate.ts';
import { explain } from './explain.ts';
import { consult, type Hooks } from './hooks.ts';
import type { Operation } from './operation.ts';
import type { Caller, Observer } from './ports.ts';
import { type RefuseOptions, refuse } from './refuse.ts';
import { refusedParameter } from './refused-parameter.ts';
import { respond } from './respond/respond.ts';
import { hashParameters } from './sign-in/hashing.ts';
import type { SignInOptions } from './sign-in/options.ts';
import { sign } from './sign-in/sign.ts';

export interface Pipeline extends Recalling, FillOptions {
  readonly router: Router<Operation>;
  /** Streams of events, by the paths of requests for them. */
  readonly streamPlans: ReadonlyMap<string, StreamPlan>;
  readonly access: Access;
  readonly signIn: SignInOptions;
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  readonly ignoreUnknown: boolean;
  readonly refusal: RefuseOptions;
  /** Null when the host has none: most requests ask nobody. */
  readonly hooks: Hooks | null;
  readonly observe: Observer;
  /** Whether the observer wants to hear of every command. */
  readonly tellCommands: boolean;
}

/** The recipe of a request: match → admit → collect → bind → fill → formulate → recall → execute → respond. Every stage gives its product or throws. */
export function createHandle(pipeline: () => Pipeline): Handle {
  return async (request) => {
    // A refresh swaps the pipeline; a request stays with the one it began with.
    const current = pipeline();
    const routed = route(request, current);
    if (routed.kind !== 'match') return withoutCall(routed, request, current);
    let call: Formulated | null = null;
    let caller: Caller | null = null;
    try {
      refuseLongUri(request, current.maxUriLength);
      const { access } = current;
      let candidates = routed.targets;
      if (!open(candidates, access)) ({ candidates, caller } = await admit(candidates, request, access));
      const given = await collect(request, candidates[0]!.endpoint, current.maxBodySize);
      const bound = bind(candidates, { given, path: routed.path, ignoreUnknown: current.ignoreUnknown });
      const filled = fill(bound, { request, caller }, current);
      const ready = filled.candidate.hashes ? await hashParameters(filled, current.signIn.hasher) : filled;
      const { make, endpoint } = ready.candidate;
      call = make === null ? formulate(ready) : await formulateAnew(ready, make, request);
      if (current.tellCommands) tellCommand(current.observe, call, request);
      const answer = current.hooks === null ? null : await consult(current.hooks, call, request);
      if (answer !== null) return renewing(answer, caller);
      if (endpoint.signIn !== null) return await sign(current, call, { request, caller });
      const { format, head } = call.candidate.rendering(request.header('accept'));
      const headers = head(call);
      const outcome = await recall(current, { call, format, request, caller }, caller);
      return renewing(respond(request, { format, headers, outcome }), caller);
    } catch (error) {
      return renewing(await failed(error, request, { call, targets: routed.targets }, current), caller);
    }
  };
}

type Route = Routed<Operation> | { readonly kind: 'stream'; readonly plan: StreamPlan };

/** A stream comes before a pattern that fits its path as well. */
function route(request: GatewayRequest, { streamPlans, router }: Pipeline): Route {
  const plan = streamPlans.get(request.path);
  if (plan === undefined) return router.match(request.method, request.path);
  if (streamMethods.includes(request.method)) return { kind: 'stream', plan };
  const routed = router.match(request.method, request.path);
  return routed.kind === 'none' ? { kind: 'method', allowed: [...streamMethods, 'OPTIONS'] } : routed;
}

/** Nothing runs in the database for these. */
async function withoutCall(
  routed: Exclude<Route, { readonly kind: 'match' }>,
  request: GatewayRequest,
  pipeline: Pipeline,
): Promise<GatewayResponse | undefined> {
  switch (routed.kind) {
    case 'none':
      return undefined;
    case 'method':
      return otherMethod(request, routed.allowed, pipeline);
    case 'stream':
      return streamed(routed.plan, request, pipeline);
  }
}

async function streamed(plan: StreamPlan, request: GatewayRequest, pipeline: Pipeline): Promise<GatewayResponse> {
  try {
    return await openStream(plan, request, pipeline.streams);
  } catch (error) {
    return failed(error, request, { call: null, targets: plan.operations }, pipeline);
  }
}

function refuseLongUri(request: GatewayRequest, limit: number): void {
  if (request.path.length + request.query.length > limit) throw new Problem('uri-too-long');
}

/** The path is ours and the method is not: a host's own handlers may still want it. */
function otherMethod(request: GatewayRequest, allowed: readonly string[], { refusal }: Pipeline): GatewayResponse {
  const allow = ['allow', allowed.join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers: allow, body: null, passable: true };
  const problem = new Problem('method-not-allowed', {
    detail: `${request.method} is not answered here; try ${allowed.join(', ')}.`,
    headers: allow,
  });
  return { ...refuse(problem, null, refusal), passable: true };
}

interface Attempt {
  readonly call: Formulated | null;
  readonly targets: readonly Operation[];
}

async function failed(
  error: unknown,
  request: GatewayRequest,
  { call, targets }: Attempt,
  pipeline: Pipeline,
): Promise<GatewayResponse> {
  const { refusal, observe } = pipeline;
  // Nobody is left to answer; the host closes what is still open.
  if (error instanceof Cancelled) return { kind: 'whole', status: 499, headers: [], body: null };
  const endpoint = meant({ call, targets });
  const database = endpoint === null ? pipeline.database : databaseOf(pipeline, endpoint);
  const refused = await refusedParameter(error, call, database);
  const constraintMessages = endpoint?.constraintMessages ?? {};
  const problem = explain(error, { statuses: refusal.mappedCodes, refused, constraintMessages });
  const correlationId = problem.status >= 500 || !refusal.showDatabaseMessage ? randomUUID() : null;
  const reason = error instanceof Error ? error : new Error(String(error));
  observe({ kind: 'request-failed', request, endpoint, status: problem.status, correlationId, error: reason });
  return refuse(problem, correlationId, refusal);
}

/** Of overloads, none was meant before one was chosen. */
function meant({ call, targets }: Attempt): Endpoint | null {
  const [candidate = null] = call !== null ? [call.candidate] : targets.length === 1 ? targets : [];
  return candidate?.endpoint ?? null;
}

function tellCommand(observe: Observer, call: Formulated, request: GatewayRequest): void {
  const { candidate, owners, arguments: values, statement } = call;
  const named = values.map((value, index) => ({ name: owners[index]?.name ?? `$${index + 1}`, value }));
  observe({ kind: 'command', endpoint: candidate.endpoint, request, sql: statement.sql, parameters: named });
}
