import type { Observer } from '../ports/ports.ts';
import type { RateLimitPolicy, RateLimitStore } from '../ports/rate-limit-store.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import { MemoryRateLimitStore } from '../rate-limits/memory-store.ts';
import {
  type CompiledRateLimit,
  compileRateLimit,
  type RateLimitPartition,
} from '../request/rate-limit/compile-rate-limit.ts';
import { defaultWindow, type RateLimitPolicyOptions, type RateLimitsOptions } from './options/rate-limit-options.ts';
import { StartError } from './start-error.ts';
import { toError } from '../to-error.ts';

/** The rate limits of a gateway. Refreshes keep them. */
export interface RateLimits {
  /** By the names that endpoints have. */
  readonly byName: ReadonlyMap<string, CompiledRateLimit>;
  readonly store: RateLimitStore;
  readonly refusesWhenUnavailable: boolean;
  /** Null while the store works; otherwise the reason why it does not. */
  health(): string | null;
  close(): Promise<void>;
}

/** @throws StartError for a store that cannot work */
export async function openRateLimits(
  options: RateLimitsOptions,
  claimTypes: ClaimTypes,
  observe: Observer,
): Promise<RateLimits> {
  const { policies, whenUnavailable } = options;
  const store = options.store ?? new MemoryRateLimitStore({ maxKeys: options.maxKeys });
  let failure: string | null = null;
  await openStore(store, ({ unavailable: error }) => {
    failure = error === null ? null : error.message;
    observe(
      error === null
        ? { kind: 'rate-limits-available' }
        : { kind: 'rate-limits-unavailable', error, requests: whenUnavailable === 'allow' ? 'allowed' : 'refused' },
    );
  });
  const refusesWhenUnavailable = whenUnavailable === 'refuse';
  return {
    store,
    refusesWhenUnavailable,
    byName: new Map(
      Object.entries(policies).map(([name, policy]) => [
        name,
        compileRateLimit({
          policy: toPolicy(name, policy),
          partition: toPartition(policy),
          store,
          refusesWhenUnavailable,
          claimTypes,
        }),
      ]),
    ),
    health: () => failure,
    close: async () => store.close(),
  };
}

type Report = Parameters<NonNullable<RateLimitStore['open']>>[0];

async function openStore(store: RateLimitStore, report: Report): Promise<void> {
  try {
    await store.open?.(report);
  } catch (error) {
    throw new StartError(`rateLimits.store: ${toError(error).message}`, {
      cause: error,
    });
  }
}

function toPolicy(name: string, { type, limit, window = defaultWindow }: RateLimitPolicyOptions): RateLimitPolicy {
  return Object.freeze(
    type === 'concurrency' ? { name, type, limit } : { name, type, limit, windowMs: window * 1_000 },
  );
}

function toPartition({ partitionBy = 'address', header }: RateLimitPolicyOptions): RateLimitPartition {
  return partitionBy === 'header' ? { by: 'header', name: header!.toLowerCase() } : { by: partitionBy };
}
