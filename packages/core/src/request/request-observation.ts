import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RequestPipeline } from './pipeline.ts';

type Target = Pick<CompiledEndpoint, 'endpoint' | 'hidesPath'>;

type ObservationOptions = Pick<RequestPipeline, 'observe' | 'observesRequests'>;

interface HandledRequest {
  readonly request: GatewayRequest;
  /** Null: none, or there are several to select from. */
  readonly endpoint: Endpoint | null;
  readonly caller: Caller | null;
  /** The endpoints with the path of the request, for any method. */
  readonly targets: readonly Target[];
  /** The path of an event stream or built-in route; absent: that of the targets. */
  readonly route?: string | null;
  /** Default false. */
  readonly isEventStream?: boolean;
}

/** Reports a request with its response, if the host observes requests. */
export function observeHandled(
  { observe, observesRequests }: ObservationOptions,
  {
    request,
    endpoint,
    caller,
    targets,
    route = targets[0]?.endpoint.path ?? null,
    isEventStream = false,
  }: HandledRequest,
): void {
  if (!observesRequests) return;
  const hidden = targets.find((target) => target.hidesPath);
  const path = hidden?.endpoint.path ?? request.path;
  observe({ kind: 'request-handled', request, endpoint, caller, path, route, isEventStream });
}

/** A response with the call that it comes from; null: a request without a call, which has been reported. */
export interface Handled {
  readonly response: GatewayResponse | undefined;
  readonly call: ExecutableCall | null;
  readonly caller: Caller | null;
}

/** Reports a request with its call, and returns its response. */
export function reportCall(
  { response, call, caller }: Handled,
  request: GatewayRequest,
  pipeline: ObservationOptions,
): GatewayResponse | undefined {
  if (call !== null && pipeline.observesRequests) {
    const { candidate } = call;
    observeHandled(pipeline, { request, caller, endpoint: candidate.endpoint, targets: [candidate] });
  }
  return response;
}
