import type { GatewayResponse } from '../http/response.ts';
import type { Given } from './collect/given.ts';
import type { Formulated } from './formulate.ts';
import type { Operation } from './operation.ts';
import type { Pipeline } from './pipeline.ts';
import type { Caller } from './ports.ts';

/** Where a request was refused, and what had been made of it. */
export interface Refused {
  readonly error: unknown;
  readonly current: Pipeline;
  readonly targets: readonly Operation[];
  readonly call: Formulated | null;
  readonly caller: Caller | null;
  readonly given: Given | null;
}

export type Attempt = { readonly response: GatewayResponse | undefined } | Refused;
