import { randomUUID } from 'node:crypto';
import { Cancelled } from '../database/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, Handle } from '../http/response.ts';
import type { Router } from '../router/router.ts';
import { admit, open } from './admit.ts';
import { bind, type Bound } from './bind/bind.ts';
import { collect } from './collect/collect.ts';
import { type Execution, execute } from './execute.ts';
import { explain } from './explain.ts';
import type { Operation } from './operation.ts';
import type { AuthScheme, Observer } from './ports.ts';
import { type RefuseOptions, refuse } from './refuse.ts';
import { respond, withoutBody } from './respond/respond.ts';

export interface Pipeline extends Execution {
  readonly router: Router<Operation>;
  readonly schemes: readonly AuthScheme[];
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  readonly ignoreUnknown: boolean;
  readonly refusal: RefuseOptions;
  readonly observe: Observer;
}

/** The recipe of a request: match → admit → collect → bind → execute → respond. Every stage gives its product or throws. */
export function createHandle(pipeline: () => Pipeline): Handle {
  return async (request) => {
    // A refresh swaps the pipeline; a request stays with the one it began with.
    const current = pipeline();
    const routed = current.router.match(request.method, request.path);
    if (routed.kind === 'none') return undefined;
    if (routed.kind === 'method') return otherMethod(request, routed.allowed, current);
    let bound: Bound<Operation> | null = null;
    try {
      refuseLongUri(request, current.maxUriLength);
      const candidates = open(routed.targets) ? routed.targets : await admit(routed.targets, request, current.schemes);
      const given = await collect(request, candidates[0]!.endpoint.parameterSource, current.maxBodySize);
      bound = bind(candidates, { given, path: routed.path, ignoreUnknown: current.ignoreUnknown });
      const headers = bound.candidate.head(bound);
      const outcome = await execute(current, bound, request);
      const response = respond(bound.candidate, headers, outcome);
      return request.method === 'HEAD' ? withoutBody(response) : response;
    } catch (error) {
      return failed(error, request, bound, current);
    }
  };
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
  return { ...refuse(problem, '', refusal), passable: true };
}

function failed(
  error: unknown,
  request: GatewayRequest,
  bound: Bound<Operation> | null,
  { refusal, observe }: Pipeline,
): GatewayResponse {
  // Nobody is left to answer; the host closes what is still open.
  if (error instanceof Cancelled) return { kind: 'whole', status: 499, headers: [], body: null };
  const endpoint = bound?.candidate.endpoint ?? null;
  const problem = explain(error, {
    statuses: refusal.mappedCodes,
    parameters: bound?.parameters ?? [],
    routineStep: endpoint?.timeout === null ? 0 : 1,
  });
  const correlationId = randomUUID();
  observe({
    kind: 'request-failed',
    method: request.method,
    path: request.path,
    endpoint,
    status: problem.status,
    correlationId,
    error: error instanceof Error ? error : new Error(String(error)),
  });
  return refuse(problem, correlationId, refusal);
}
