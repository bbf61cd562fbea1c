import { parseBoolean } from '../../endpoints/comment/lexer.ts';
import type { RateLimitStore } from '../../ports/rate-limit-store.ts';
import { nearestName } from '../../validation/suggestion.ts';
import {
  integer,
  nonEmptyString,
  nullable,
  objectWithMethods,
  oneOf,
  optionGroup,
  type OptionValidators,
  recordOf,
  type Validator,
} from '../../validation/validators.ts';
import type { RateLimitPolicyOptions, RateLimitsOptions } from './rate-limit-options.ts';

const policyTable: OptionValidators<RateLimitPolicyOptions> = {
  type: oneOf('fixed-window', 'sliding-window', 'token-bucket', 'concurrency'),
  limit: integer({ min: 1, max: 1_000_000 }),
  window: integer({ min: 1, max: 86_400 }),
  partitionBy: oneOf('address', 'user', 'header', 'none'),
  header: nullable(nonEmptyString),
};

const policyGroup = optionGroup<RateLimitPolicyOptions>(policyTable, ['type', 'limit']);

const policy: Validator<RateLimitPolicyOptions> = {
  ...policyGroup,
  validate: (value, path) => {
    const faults = policyGroup.validate(value, path);
    return faults.length > 0 ? faults : policyFaults(value as RateLimitPolicyOptions, path);
  },
};

/** A field name (RFC 9110, section 5.1). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function policyFaults({ type, window, partitionBy, header = null }: RateLimitPolicyOptions, path: string): string[] {
  const isByHeader = partitionBy === 'header';
  return [
    ...(type === 'concurrency' && window !== undefined ? [`${path}.window: a concurrency policy has no window`] : []),
    ...(isByHeader && header === null ? [`${path}.header: is missing; partitionBy header needs it`] : []),
    ...(!isByHeader && header !== null ? [`${path}.header: has no effect without partitionBy header`] : []),
    ...(header !== null && !token.test(header) ? [`${path}.header: is not a valid header name`] : []),
  ];
}

/** The name is a word of comments, and a structured string of the header `RateLimit`. */
function nameFault(name: string): string | null {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
    return 'must be a name of at most 64 letters, digits, - and _ that begins with a letter';
  if (name.toLowerCase() === 'none' || parseBoolean(name) !== null)
    return 'is a word of the annotation rate_limit; use another name';
  return null;
}

const rateLimits: OptionValidators<RateLimitsOptions> = {
  policies: recordOf(policy, nameFault),
  defaultPolicy: nullable(nonEmptyString),
  store: nullable(objectWithMethods<RateLimitStore>('acquire', 'release', 'close')),
  maxKeys: integer({ min: 1, max: 10_000_000 }),
  whenUnavailable: oneOf('allow', 'refuse'),
};

const group = optionGroup<Partial<RateLimitsOptions>>(rateLimits);

/** The validator of the group `rateLimits`. */
export const rateLimitsOptions: Validator<RateLimitsOptions> = {
  ...(group as unknown as Validator<RateLimitsOptions>),
  validate: (value, path) => {
    const faults = group.validate(value, path);
    return faults.length > 0 ? faults : defaultPolicyFaults(value as Partial<RateLimitsOptions>, path);
  },
};

function defaultPolicyFaults(
  { policies = {}, defaultPolicy = null }: Partial<RateLimitsOptions>,
  path: string,
): readonly string[] {
  if (defaultPolicy === null || Object.hasOwn(policies, defaultPolicy)) return [];
  const near = nearestName(defaultPolicy, Object.keys(policies));
  const hint = near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
  return [
    `${path}.defaultPolicy: no policy of ${path}.policies is named ${JSON.stringify(defaultPolicy.slice(0, 80))}${hint}`,
  ];
}
