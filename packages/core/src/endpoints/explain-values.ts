import { members } from './comment/registry.ts';
import type { ExplainedText } from './comment/value-annotation.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { fromDefault, fromOption, fromRoutine, type Origin } from './origin.ts';
import { tableLabel } from './table-diagnostics.ts';

/** A value of an endpoint, and where it comes from. */
export interface ValueExplanation extends Origin {
  readonly name: string;
  readonly value: string;
}

interface ExplainedMember extends ExplainedText {
  readonly member: keyof Endpoint;
}

/** The members that no single annotation resolves. */
const composed: readonly ExplainedMember[] = [
  { member: 'method', name: 'method', show: ({ method }) => method },
  { member: 'path', name: 'path', show: ({ path }) => path },
  { member: 'parameterSource', name: 'parameterSource', show: ({ parameterSource }) => parameterSource },
  { member: 'authorization', name: 'authorization', show: showAccess },
  { member: 'requestHeaders', name: 'requestHeaders', show: ({ requestHeaders }) => requestHeaders.mode },
  { member: 'cache', name: 'cache', show: showCache },
  { member: 'changes', name: 'changes', show: showChanges },
];

const explained: readonly ExplainedMember[] = [
  ...composed,
  ...members.flatMap(({ member, explained: text }) => (text === undefined ? [] : [{ member, ...text }])),
];

const byHook: Origin = { origin: 'hook', line: null, reason: 'set by endpointCreated' };

/**
 * Explains method, path, parameters, authorization, and values that options or comments set.
 * @param built the endpoint before the hook `endpointCreated`
 */
export function explainValues(
  { origins }: EndpointBuilder,
  endpoint: Endpoint,
  built: Endpoint,
): readonly ValueExplanation[] {
  return explained.flatMap(({ member, name, show }) => {
    const value = show(endpoint);
    const origin = show(built) === value ? origins!.get(member) : byHook;
    // Few endpoints have streams: without one, none is mentioned.
    return origin === undefined ? [] : [{ name, value, ...origin }];
  });
}

/** How the plans of calls are chosen where the comment does not set `plan_cache_mode`. */
export interface PlanOptions {
  readonly planCacheMode: 'measured' | 'auto' | 'force_generic_plan';
  readonly isMeasured: (endpoint: Endpoint) => boolean;
}

/** Explains which plans PostgreSQL uses for calls. A running gateway has the result of the measurement. */
export function explainPlans(
  { origins }: EndpointBuilder,
  endpoint: Endpoint,
  built: Endpoint,
  { planCacheMode, isMeasured }: PlanOptions,
): ValueExplanation {
  const name = 'planCacheMode';
  if (endpoint.planCacheMode !== null) {
    const isOfComment = built.planCacheMode === endpoint.planCacheMode;
    return { name, value: endpoint.planCacheMode, ...(isOfComment ? origins!.get(name)! : byHook) };
  }
  if (isMeasured(endpoint)) {
    const subject = endpoint.table === null ? 'function' : 'operation';
    return { name, ...fromRoutine('measured', `the ${subject} only reads`) };
  }
  return { name, ...(planCacheMode === 'measured' ? fromDefault('auto', name) : fromOption(planCacheMode, name)) };
}

function showAccess({ authorization: { required, roles }, basicAuthentication }: Endpoint): string {
  const needs = [...(basicAuthentication === null ? [] : ['HTTP Basic']), ...(required ? [roles.join(', ')] : [])];
  return needs.length === 0 ? 'anonymous' : needs.map((need) => need || 'signed in').join(', ');
}

function showChanges({ changes }: Endpoint): string {
  if (changes === undefined) return 'none';
  const { path, operations, relation, key, old, by, byAddress, gapOn } = changes;
  return [
    `${operations.join(', ')} of ${tableLabel(relation)} by ${key.map(({ shown }) => shown).join(', ')} at ${path}`,
    ...(old ? ['with the old row'] : []),
    ...(by === null ? [] : [`where ${by.column} is the claim ${by.claim}`]),
    ...(byAddress ? ['by address'] : []),
    ...(gapOn.length === 0 ? [] : [`gap on ${gapOn.map(tableLabel).join(', ')}`]),
  ].join('; ');
}

function showCache({ cache, parameters }: Endpoint): string {
  if (cache === null) return 'none';
  const names = parameters.filter(({ position }) => cache.parameters?.includes(position)).map(({ key }) => key);
  const key = cache.parameters === null ? 'all parameters' : names.length === 0 ? 'no parameter' : names.join(', ');
  const until =
    cache.untilChangesOf === undefined ? '' : `, until changes of ${cache.untilChangesOf.map(tableLabel).join(', ')}`;
  return `by ${key}${cache.expiresInMs === null ? '' : `, for ${cache.expiresInMs / 1_000} s`}${until}`;
}
