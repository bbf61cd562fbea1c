import type { Value } from '../postgres/port.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import type { BoundCall } from './bind/bind.ts';
import { type ContextKeys, contextSettings, type DatabaseRole, roleSettings } from '../auth/context.ts';
import { type CallContext, resolveInjectedValue } from '../auth/injected-values.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import { headersAsJson, type RequestHeaderOptions } from './request-headers.ts';
import type { Setting } from '../auth/settings.ts';

/** A call with everything that the gateway itself adds to what the client has sent. */
export interface InjectedCall extends BoundCall<CompiledEndpoint> {
  readonly settings: readonly Setting[];
}

export interface InjectOptions {
  readonly requestHeaders: RequestHeaderOptions & {
    /** The setting that holds the headers where an endpoint wants them there. */
    readonly contextKey: string;
  };
  /** Settings of every call, where connections of the host's may serve it, which hold none of ours. */
  readonly sessionSettings: readonly Setting[];
  readonly claimTypes: ClaimTypes;
  readonly contextKeys: ContextKeys;
  /** Null: calls run under the role of their connection. */
  readonly databaseRole: DatabaseRole | null;
}

/** Adds what does not come from the client: settings of the transaction, and parameters that the gateway fills. */
export function injectValues(
  bound: BoundCall<CompiledEndpoint>,
  calling: CallContext,
  options: InjectOptions,
): InjectedCall {
  const { candidate, parameters, values } = bound;
  const settings = settingsOf(candidate.endpoint, calling, options);
  const added = candidate.injectsValues ? additions(bound, calling, options) : none;
  return added.length === 0 ? { candidate, parameters, values, settings } : withAdditions(bound, added, settings);
}

type Addition = readonly [parameter: EndpointParameter, value: Value];

const none: readonly Addition[] = [];
const noSettings: readonly Setting[] = [];

function settingsOf(endpoint: Endpoint, calling: CallContext, options: InjectOptions): readonly Setting[] {
  const { timeoutMs: timeout, planCacheMode, requestHeaders, userContext } = endpoint;
  const { sessionSettings: everyCall, databaseRole } = options;
  const plain = timeout === null && planCacheMode === null && requestHeaders.mode !== 'context' && !userContext;
  if (plain && everyCall.length === 0 && databaseRole === null) return noSettings;
  const settings = [...everyCall];
  if (databaseRole !== null) settings.push(...roleSettings(calling, databaseRole));
  if (userContext) settings.push(...contextSettings(calling, options.contextKeys, options.claimTypes));
  if (timeout !== null) settings.push(['statement_timeout', String(timeout)]);
  if (planCacheMode !== null) settings.push(['plan_cache_mode', planCacheMode]);
  if (requestHeaders.mode === 'context') {
    const { contextKey } = options.requestHeaders;
    settings.push([contextKey, headersAsJson(calling.request, options.requestHeaders)]);
  }
  return settings;
}

/** What the gateway gives; what the routine has a default for and nobody knows is left to that. */
function additions(
  { candidate, parameters }: BoundCall<CompiledEndpoint>,
  calling: CallContext,
  options: InjectOptions,
): readonly Addition[] {
  const { endpoint } = candidate;
  const { requestHeaders } = endpoint;
  return endpoint.parameters.flatMap((parameter): readonly Addition[] => {
    if (parameter.injectedValue !== undefined) {
      const value = resolveInjectedValue(parameter, calling, options.claimTypes);
      return value === null && parameter.optional ? [] : [[parameter, value]];
    }
    // The request's headers, when the request itself does not give the parameter.
    const takesHeaders = requestHeaders.mode === 'parameter' && requestHeaders.position === parameter.position;
    if (!takesHeaders || parameters.includes(parameter)) return [];
    return [[parameter, headersAsJson(calling.request, options.requestHeaders)]];
  });
}

/** In the routine's order, which the statement of all parameters counts on. */
function withAdditions(
  { candidate, parameters, values }: BoundCall<CompiledEndpoint>,
  added: readonly Addition[],
  settings: readonly Setting[],
): InjectedCall {
  const all = [...parameters.map((parameter, index): Addition => [parameter, values[index]!]), ...added];
  all.sort(([one], [other]) => one.position - other.position);
  return {
    candidate,
    parameters: all.map(([parameter]) => parameter),
    values: all.map(([, value]) => value),
    settings,
  };
}
