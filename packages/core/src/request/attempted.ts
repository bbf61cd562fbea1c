import type { GatewayResponse } from '../http/response.ts';
import type { Given } from './parse/input.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Pipeline } from './pipeline.ts';
import type { Caller } from '../ports/ports.ts';

/** Where a request was refused, and what had been made of it. */
export interface Refused {
  readonly error: unknown;
  readonly current: Pipeline;
  readonly targets: readonly CompiledEndpoint[];
  readonly call: ExecutableCall | null;
  readonly caller: Caller | null;
  readonly given: Given | null;
}

export type Attempt = { readonly response: GatewayResponse | undefined } | Refused;
