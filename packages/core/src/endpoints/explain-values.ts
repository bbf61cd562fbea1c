import type { EndpointBuilder, Overrides } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { endpointDefaults, type EndpointOptions } from './options.ts';

/** A value of an endpoint, and where it comes from. */
export interface ValueExplanation {
  readonly name: string;
  readonly value: string;
  /**
   * - `comment`: a line of the comment
   * - `routine`: the name, kind or volatility of the routine, or the operation on a table
   * - `option`: an option of the gateway that differs from its default
   * - `default`: a default of the gateway
   * - `hook`: the hook `endpointCreated`
   */
  readonly origin: 'comment' | 'routine' | 'option' | 'default' | 'hook';
  /** The line of the comment; null for other origins. */
  readonly line: number | null;
  /** Why, as in `the name begins with get_`. */
  readonly reason: string;
}

type Origin = Pick<ValueExplanation, 'origin' | 'line' | 'reason'>;

const byRoutine = (reason: string): Origin => ({ origin: 'routine', line: null, reason });
const byOption = (reason: string): Origin => ({ origin: 'option', line: null, reason });
const byDefault = (reason: string): Origin => ({ origin: 'default', line: null, reason });
const byHook: Origin = { origin: 'hook', line: null, reason: 'set by endpointCreated' };

/** A value that is explained: its text, and where a built endpoint has it from. */
interface ExplainedValue {
  readonly show: (endpoint: Endpoint) => string;
  readonly origin: (builder: EndpointBuilder, built: Endpoint) => Origin;
}

/** By the name of the value, in the order of explanations. */
const explained: Readonly<Record<string, ExplainedValue>> = {
  method: { show: ({ method }) => method, origin: explainMethod },
  path: { show: ({ path }) => path, origin: explainPath },
  parameterSource: { show: ({ parameterSource }) => parameterSource, origin: explainSource },
  authorization: { show: showAccess, origin: explainAuthorization },
  userContext: { show: ({ userContext }) => String(userContext), origin: explainUserContext },
  requestHeaders: { show: ({ requestHeaders }) => requestHeaders.mode, origin: ofOption('requestHeadersMode') },
  bufferRows: { show: ({ bufferRows }) => String(bufferRows), origin: ofOption('bufferRows') },
  responseSettings: {
    show: ({ responseSettings }) => String(responseSettings),
    origin: ofOption('responseSettings'),
  },
  largeNumbers: { show: ({ largeNumbers }) => largeNumbers ?? 'number', origin: ofOption('largeNumbers') },
  fieldErrors: { show: showFieldErrors, origin: ofOption('fieldErrors') },
  textResponseNullHandling: {
    show: ({ textResponseNullHandling }) => textResponseNullHandling,
    origin: ofOption('textResponseNullHandling'),
  },
  queryStringNullHandling: {
    show: ({ queryStringNullHandling }) => queryStringNullHandling,
    origin: ofOption('queryStringNullHandling'),
  },
  rateLimit: { show: ({ rateLimit }) => rateLimit ?? 'none', origin: explainRateLimit },
  timeout: {
    show: ({ timeoutMs }) => (timeoutMs === null ? 'that of the gateway' : `${timeoutMs / 1_000} s`),
    origin: ofComment('timeoutMs', 'commandTimeout'),
  },
  cache: { show: showCache, origin: ofComment('cached', 'no cached line') },
  consistency: {
    show: ({ consistency }) => consistency ?? 'that of the gateway',
    origin: ofComment('consistency', 'readReplicas.consistency'),
  },
  idempotency: {
    show: ({ idempotency }) => idempotency ?? 'none',
    origin: ofComment('idempotency', 'no idempotent line'),
  },
};

/**
 * Explains method, path, parameters, authorization, and values that options or comments set.
 * @param built the endpoint before the hook `endpointCreated`
 */
export function explainValues(
  builder: EndpointBuilder,
  endpoint: Endpoint,
  built: Endpoint,
): readonly ValueExplanation[] {
  return Object.entries(explained).map(([name, { show, origin }]) => {
    const value = show(endpoint);
    return { name, value, ...(show(built) === value ? origin(builder, built) : byHook) };
  });
}

/** How the plans of calls are chosen where the comment does not set `plan_cache_mode`. */
export interface PlanOptions {
  readonly planCacheMode: 'measured' | 'auto' | 'force_generic_plan';
  readonly isMeasured: (endpoint: Endpoint) => boolean;
}

/** Explains which plans PostgreSQL uses for calls. A running gateway has the result of the measurement. */
export function explainPlans(
  builder: EndpointBuilder,
  endpoint: Endpoint,
  { planCacheMode, isMeasured }: PlanOptions,
): ValueExplanation {
  const name = 'planCacheMode';
  const { overrides } = builder;
  if (endpoint.planCacheMode !== null) {
    const isOfComment = overrides.planCacheMode === endpoint.planCacheMode;
    const origin = isOfComment ? byComment(builder, name, 'set by the comment') : byHook;
    return { name, value: endpoint.planCacheMode, ...origin };
  }
  if (isMeasured(endpoint)) {
    const subject = endpoint.table === null ? 'function' : 'operation';
    return { name, value: 'measured', ...byRoutine(`the ${subject} only reads`) };
  }
  if (planCacheMode === 'measured') return { name, value: 'auto', ...byDefault(name) };
  return { name, value: planCacheMode, ...byOption(name) };
}

function showAccess({ authorization: { required, roles }, basicAuthentication }: Endpoint): string {
  const needs = [...(basicAuthentication === null ? [] : ['HTTP Basic']), ...(required ? [roles.join(', ')] : [])];
  return needs.length === 0 ? 'anonymous' : needs.map((need) => need || 'signed in').join(', ');
}

function showFieldErrors({ fieldErrors }: Endpoint): string {
  return fieldErrors === undefined ? 'false' : String(fieldErrors.status ?? true);
}

function showCache({ cache, parameters }: Endpoint): string {
  if (cache === null) return 'none';
  const names = parameters.filter(({ position }) => cache.parameters?.includes(position)).map(({ key }) => key);
  const key = cache.parameters === null ? 'all parameters' : names.length === 0 ? 'no parameter' : names.join(', ');
  return `by ${key}${cache.expiresInMs === null ? '' : `, for ${cache.expiresInMs / 1_000} s`}`;
}

function byComment(builder: EndpointBuilder, key: keyof Overrides, reason: string): Origin {
  return { origin: 'comment', line: builder.annotationFor(key)?.line ?? null, reason };
}

/** The cases of `resolveMethod`, in its order. */
function explainMethod(builder: EndpointBuilder): Origin {
  const { overrides, routine, options } = builder;
  if (overrides.upload !== null) return byComment(builder, 'upload', 'uploads are POST');
  if (overrides.method !== null) return byComment(builder, 'method', 'set by the comment');
  if (overrides.loginOrLogout !== null)
    return byComment(builder, 'loginOrLogout', `a ${overrides.loginOrLogout} is POST`);
  if (routine.table !== undefined) return byRoutine(`the operation ${routine.table.operation}`);
  if (routine.route !== undefined) return byRoutine('the route of its source');
  if (options.defaultHttpMethod !== null) return byOption('defaultHttpMethod');
  if (routine.kind === 'procedure') return byRoutine('procedures are POST');
  const part = /^get_|_get_|_get$/i.exec(routine.name)?.[0];
  if (part !== undefined) return byRoutine(`the name contains ${part}`);
  return byRoutine(
    `the function is ${routine.volatility}${routine.volatility === 'volatile' ? ', and its name does not contain get' : ''}`,
  );
}

function explainPath(builder: EndpointBuilder, endpoint: Endpoint): Origin {
  const { overrides, options } = builder;
  if (overrides.path !== null) return byComment(builder, 'path', 'set by the comment');
  if (options.urlPathBuilder !== endpointDefaults.urlPathBuilder) return byOption('urlPathBuilder');
  const name = `${endpoint.schema === 'public' ? '' : ', the schema'} and the name of the ${endpoint.kind}`;
  if (options.urlPathPrefix === endpointDefaults.urlPathPrefix) return byRoutine(`the prefix${name}`);
  return byOption(`urlPathPrefix${name}`);
}

/** The cases of `resolveParameterSource`, in its order, after a parameter for the whole body. */
function explainSource(builder: EndpointBuilder, { method, bodyParameter }: Endpoint): Origin {
  const { overrides, options, routine } = builder;
  if (bodyParameter !== null) return byComment(builder, 'bodyParameterName', 'the body is one parameter');
  if (overrides.upload !== null) return byComment(builder, 'upload', 'the body of an upload is a form');
  if (routine.dialect !== undefined) return byRoutine(`the dialect ${routine.dialect} reads the request`);
  if (overrides.parameterSource !== null) return byComment(builder, 'parameterSource', 'set by the comment');
  const isForced = options.defaultRequestParamType !== null && overrides.method === null && routine.table === undefined;
  return isForced ? byOption('defaultRequestParamType') : byDefault(`the method is ${method}`);
}

function explainAuthorization(builder: EndpointBuilder): Origin {
  const { access, overrides, options, trace } = builder;
  if (overrides.loginOrLogout === 'login') return byComment(builder, 'loginOrLogout', 'a login needs no authorization');
  const lastLine = (name: string): number | null =>
    trace?.lines.findLast(({ kind, annotation }) => kind === 'annotation' && annotation === name)?.line ?? null;
  if (access.required) return { origin: 'comment', line: lastLine('authorize'), reason: 'set by the comment' };
  if (access.anonymousIn !== null)
    return { origin: 'comment', line: lastLine('allow_anonymous'), reason: 'set by the comment' };
  if (builder.basicAuthentication !== null) {
    return { origin: 'comment', line: lastLine('basic_authentication'), reason: 'set by the comment' };
  }
  return options.requiresAuthorization ? byOption('requiresAuthorization') : byDefault('no authorize line');
}

function explainUserContext(builder: EndpointBuilder): Origin {
  if (builder.overrides.userContext !== null) return byComment(builder, 'userContext', 'set by the comment');
  const { useUserContext } = builder.options.authentication;
  return useUserContext ? byOption('useUserContext') : byDefault('useUserContext');
}

function explainRateLimit(builder: EndpointBuilder): Origin {
  if (builder.overrides.rateLimit !== null) return byComment(builder, 'rateLimit', 'set by the comment');
  const { defaultPolicy } = builder.options.rateLimits;
  return defaultPolicy === null ? byDefault('rateLimits.defaultPolicy') : byOption('rateLimits.defaultPolicy');
}

/** Of a value that an option presets. */
function ofOption(name: keyof Overrides & keyof EndpointOptions): ExplainedValue['origin'] {
  return (builder) => {
    if (builder.overrides[name] !== null) return byComment(builder, name, 'set by the comment');
    return builder.options[name] === endpointDefaults[name] ? byDefault(name) : byOption(name);
  };
}

/** Of a value that only comments set. @param otherwise the reason of the default */
function ofComment(name: keyof Overrides, otherwise: string): ExplainedValue['origin'] {
  return (builder) =>
    builder.overrides[name] === null ? byDefault(otherwise) : byComment(builder, name, 'set by the comment');
}
