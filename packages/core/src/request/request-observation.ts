import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { hidesPath } from '../endpoints/secret-names.ts';
import type { Caller } from '../ports/ports.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RequestPipeline } from './pipeline.ts';

type Target = Pick<CompiledEndpoint, 'endpoint'>;

type ObservationOptions = Pick<RequestPipeline, 'observe' | 'observesRequests'>;

interface HandledRequest {
  readonly request: GatewayRequest;
  /** Null: none, or there are several to select from. */
  readonly endpoint: Endpoint | null;
  readonly caller: Caller | null;
  /** The endpoints with the path of the request, for any method. */
  readonly targets: readonly Target[];
}

/** Reports a request with its response, if the host observes requests. */
export function observeHandled(
  { observe, observesRequests }: ObservationOptions,
  { request, endpoint, caller, targets }: HandledRequest,
): void {
  if (!observesRequests) return;
  const hidden = targets.find((target) => hidesPath(target.endpoint));
  observe({ kind: 'request-handled', request, endpoint, caller, path: hidden?.endpoint.path ?? request.path });
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
