import { hash } from 'node:crypto';
import type { ClaimTypes } from '../../auth/claims.ts';
import { callerIdentity, hasUser } from '../../auth/identity.ts';
import { clientNetwork } from '../../http/client-network.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Caller } from '../../ports/ports.ts';
import type { RateLimitPolicy, RateLimitStore } from '../../ports/rate-limit-store.ts';

/** The property that the requests of a policy are counted by. */
export type RateLimitPartition =
  | { readonly by: 'address' | 'user' | 'none' }
  /** `name` in lower case. */
  | { readonly by: 'header'; readonly name: string };

/** The rate limit of endpoints, made at start. */
export interface CompiledRateLimit {
  readonly policy: RateLimitPolicy;
  readonly store: RateLimitStore;
  /** The `RateLimit-Policy` of every response. */
  readonly policyHeader: string;
  /** Whether requests are counted by their user. */
  readonly needsCaller: boolean;
  /** Whether requests are refused while the store is unavailable. */
  readonly refusesWhenUnavailable: boolean;
  /** Returns the key that counts the request. Null: an anonymous caller, or not known yet. */
  readonly keyOf: (request: GatewayRequest, caller: Caller | null) => string;
  /** `refused`: the requests beyond the limit, since the start. */
  readonly counts: { refused: number };
}

export interface RateLimitInput {
  readonly policy: RateLimitPolicy;
  readonly partition: RateLimitPartition;
  readonly store: RateLimitStore;
  readonly refusesWhenUnavailable: boolean;
  readonly claimTypes: ClaimTypes;
}

export function compileRateLimit(input: RateLimitInput): CompiledRateLimit {
  const { policy, partition, store, refusesWhenUnavailable, claimTypes } = input;
  return Object.freeze({
    policy,
    store,
    policyHeader: policyItem(policy),
    needsCaller: partition.by === 'user',
    refusesWhenUnavailable,
    keyOf: keyReader(partition, claimTypes),
    counts: { refused: 0 },
  });
}

/** Returns a Quota Policy Item (draft-ietf-httpapi-ratelimit-headers-11, section 3.1). */
function policyItem(policy: RateLimitPolicy): string {
  const { name, limit } = policy;
  if (policy.type === 'concurrency') return `"${name}";q=${limit};qu="concurrent-requests"`;
  return `"${name}";q=${limit};w=${policy.windowMs / 1000}`;
}

/** The prefixes separate users, header values and addresses. */
function keyReader(partition: RateLimitPartition, types: ClaimTypes): CompiledRateLimit['keyOf'] {
  switch (partition.by) {
    case 'none':
      return () => 'all';
    case 'address':
      return addressKey;
    case 'user':
      return (request, caller) => {
        if (caller === null || !hasUser(caller, types)) return addressKey(request);
        return `user ${bounded(callerIdentity(caller, types))}`;
      };
    case 'header':
      return (request) => {
        const value = request.header(partition.name);
        // Header values are often API keys, which do not belong in a store.
        return value === undefined ? addressKey(request) : `header ${digest(value)}`;
      };
  }
}

/** Requests from an unknown address share a key. */
function addressKey({ remoteAddress }: GatewayRequest): string {
  return `address ${remoteAddress === undefined ? 'unknown' : bounded(clientNetwork(remoteAddress))}`;
}

/** Characters; longer texts are hashed. */
const maxLength = 64;

function bounded(text: string): string {
  return text.length <= maxLength ? text : digest(text);
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
