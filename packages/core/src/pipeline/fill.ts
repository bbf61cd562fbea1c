import type { Value } from '../database/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint, EndpointParameter } from '../plan/endpoint.ts';
import type { Bound } from './bind/bind.ts';
import type { Operation } from './operation.ts';
import { headersAsJson, type RequestHeaderOptions } from './request-headers.ts';
import type { Setting } from './settings.ts';

/** A call with everything that the gateway itself adds to what the client has sent. */
export interface Filled extends Bound<Operation> {
  readonly settings: readonly Setting[];
}

export interface FillOptions {
  readonly requestHeaders: RequestHeaderOptions & {
    /** The setting that holds the headers where an endpoint wants them there. */
    readonly contextKey: string;
  };
  /** Settings of every call, where connections of the host's may serve it, which hold none of ours. */
  readonly everyCall: readonly Setting[];
}

/** Adds what does not come from the client: settings of the transaction, and parameters that the gateway fills. */
export function fill(bound: Bound<Operation>, request: GatewayRequest, options: FillOptions): Filled {
  const { candidate, parameters, values } = bound;
  const settings = settingsOf(candidate.endpoint, request, options);
  const missing = headersParameter(candidate.endpoint, parameters);
  if (missing === null) return { candidate, parameters, values, settings };
  const value: Value = headersAsJson(request, options.requestHeaders);
  return { candidate, parameters: [...parameters, missing], values: [...values, value], settings };
}

const noSettings: readonly Setting[] = [];

function settingsOf(endpoint: Endpoint, request: GatewayRequest, options: FillOptions): readonly Setting[] {
  const { timeout, planCacheMode, requestHeaders } = endpoint;
  const none = timeout === null && planCacheMode === null && requestHeaders.mode !== 'context';
  if (none && options.everyCall.length === 0) return noSettings;
  const settings = [...options.everyCall];
  if (timeout !== null) settings.push(['statement_timeout', String(timeout)]);
  if (planCacheMode !== null) settings.push(['plan_cache_mode', planCacheMode]);
  if (requestHeaders.mode === 'context') {
    const { contextKey } = options.requestHeaders;
    settings.push([contextKey, headersAsJson(request, options.requestHeaders)]);
  }
  return settings;
}

/** The parameter that takes the request's headers, when the request itself does not give it. */
function headersParameter(endpoint: Endpoint, given: readonly EndpointParameter[]): EndpointParameter | null {
  const { requestHeaders } = endpoint;
  if (requestHeaders.mode !== 'parameter') return null;
  if (given.some(({ position }) => position === requestHeaders.position)) return null;
  return endpoint.parameters.find(({ position }) => position === requestHeaders.position) ?? null;
}
