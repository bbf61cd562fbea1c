import type { Value } from '../postgres/port.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import type { BoundCall } from './bind/bind.ts';
import {
  type CallSetting,
  type ContextKeys,
  contextSettings,
  type DatabaseRole,
  roleSettings,
} from '../auth/context.ts';
import { type CallContext, resolveInjectedValue } from '../auth/injected-values.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import { responseSettingNames } from '../response/response-settings.ts';
import { headersAsJson, type RequestHeaderOptions } from './request-headers.ts';

/** A bound call with the values and settings that the gateway adds. */
export interface InjectedCall extends BoundCall<CompiledEndpoint> {
  /** Transaction settings, as `set_config(name, value, true)` takes them. */
  readonly settings: readonly CallSetting[];
}

export interface InjectOptions {
  readonly requestHeaders: RequestHeaderOptions & {
    /** The setting that holds the headers for endpoints that read them with `current_setting`. */
    readonly contextKey: string;
  };
  /** Settings of every call on a connection that the host provides: the gateway did not configure its session. */
  readonly sessionSettings: readonly CallSetting[];
  readonly claimTypes: ClaimTypes;
  readonly contextKeys: ContextKeys;
  /** Null: calls run under the role of their connection. */
  readonly databaseRole: DatabaseRole | null;
}

/** Adds transaction settings, and parameters whose values do not come from the client. */
export function injectValues(
  bound: BoundCall<CompiledEndpoint>,
  context: CallContext,
  options: InjectOptions,
): InjectedCall {
  const { candidate, parameters, values, rows } = bound;
  const settings = buildSettings(candidate.endpoint, context, options);
  const added = candidate.injectsValues ? injectedParameters(bound, context, options) : none;
  if (added.length > 0) return addParameters(bound, added, settings);
  return rows === undefined ? { candidate, parameters, values, settings } : { ...bound, settings };
}

type ParameterValue = readonly [parameter: EndpointParameter, value: Value];

const none: readonly ParameterValue[] = [];
const noSettings: readonly CallSetting[] = [];

/** An earlier call may have left values in the session. */
const noResponseSettings = responseSettingNames.map((name): CallSetting => [name, '']);

function hasSettings({ timeoutMs, planCacheMode, requestHeaders, userContext, responseSettings }: Endpoint): boolean {
  const hasOwn = timeoutMs !== null || planCacheMode !== null;
  return hasOwn || requestHeaders.mode === 'context' || userContext || responseSettings;
}

function buildSettings(endpoint: Endpoint, context: CallContext, options: InjectOptions): readonly CallSetting[] {
  const { timeoutMs, planCacheMode, requestHeaders, userContext, responseSettings } = endpoint;
  const { sessionSettings, databaseRole } = options;
  if (!hasSettings(endpoint) && sessionSettings.length === 0 && databaseRole === null) return noSettings;
  const settings = [...sessionSettings];
  if (databaseRole !== null) settings.push(...roleSettings(context, databaseRole));
  if (userContext) settings.push(...contextSettings(context, options.contextKeys, options.claimTypes));
  if (timeoutMs !== null) settings.push(['statement_timeout', String(timeoutMs)]);
  if (planCacheMode !== null) settings.push(['plan_cache_mode', planCacheMode]);
  if (responseSettings) settings.push(...noResponseSettings);
  if (requestHeaders.mode === 'context') {
    const { contextKey } = options.requestHeaders;
    settings.push([contextKey, headersAsJson(context.request, options.requestHeaders)]);
  }
  return settings;
}

/** The parameters that the gateway fills. An unknown value leaves an optional parameter to its default. */
function injectedParameters(
  { candidate, parameters }: BoundCall<CompiledEndpoint>,
  context: CallContext,
  options: InjectOptions,
): readonly ParameterValue[] {
  const { endpoint } = candidate;
  const { requestHeaders, upload } = endpoint;
  return endpoint.parameters.flatMap((parameter): readonly ParameterValue[] => {
    // Its query is part of the statement.
    if (parameter.query !== undefined) return [];
    if (parameter.injectedValue !== undefined) {
      const value = resolveInjectedValue(parameter, context, options.claimTypes);
      return value === null && parameter.optional ? [] : [[parameter, value]];
    }
    // The value follows when the files were received.
    if (upload?.metadataParameter === parameter.position) return [[parameter, null]];
    // The request headers fill their parameter unless the client has given it a value.
    const takesHeaders = requestHeaders.mode === 'parameter' && requestHeaders.position === parameter.position;
    if (!takesHeaders || parameters.includes(parameter)) return [];
    return [[parameter, headersAsJson(context.request, options.requestHeaders)]];
  });
}

/** Merges the parameters in the routine's order: the statement for all parameters relies on it. */
function addParameters(
  { candidate, parameters, values }: BoundCall<CompiledEndpoint>,
  added: readonly ParameterValue[],
  settings: readonly CallSetting[],
): InjectedCall {
  const all = [...parameters.map((parameter, index): ParameterValue => [parameter, values[index]!]), ...added];
  all.sort(([a], [b]) => a.position - b.position);
  return {
    candidate,
    parameters: all.map(([parameter]) => parameter),
    values: all.map(([, value]) => value),
    settings,
  };
}
