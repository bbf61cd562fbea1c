import { execute } from '../execute.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from '../execution.ts';
import type { Cache, CachedResponse, CacheKey, CacheLookup, CacheMiss, Caller } from '../../ports/ports.ts';
import type { SizeLimit } from '../../response/response-writer.ts';
import { type CompiledCachePolicy, createCacheKey } from './cache-key.ts';
import { toCachedResponse, toCallResult } from './cached-response.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { VersionTimes } from './version-times.ts';

/** The cache and the calls that are about to fill it. Lives as long as the gateway. */
export interface ResponseCache {
  readonly cache: Cache;
  /** The database that the responses come from. */
  readonly scope: string;
  /** Larger responses are not cached. */
  readonly sizeLimit: SizeLimit;
  /** By version and cache key. */
  readonly inFlight: Map<string, SingleFlight>;
  readonly counts: CacheCounts;
  /**
   * Whether changes of these tables, which `tableKey` names, have invalidated all responses of the routine, `schema.name`, that they
   * concern.
   */
  readonly isFollowed: (routine: string, tables: readonly string[]) => boolean;
  /** Null: there are no read replicas, whose responses could be older than an invalidation. */
  readonly versionTimes: VersionTimes | null;
}

/** The numbers of requests to cached endpoints, since the start. */
export interface CacheCounts {
  /** Answered from the cache. */
  hits: number;
  /** Answered by a call of their own. */
  misses: number;
  /** Answered by the call of another request. */
  shared: number;
}

export interface CachedExecutionContext extends ExecutionContext {
  /** Null: caching is off. */
  readonly responseCache: ResponseCache | null;
  /** Whether the host's options allow shared caches to store responses. */
  readonly isPublic: boolean;
}

interface Lookup {
  readonly context: CachedExecutionContext;
  readonly responseCache: ResponseCache;
  readonly cachePolicy: CompiledCachePolicy;
  readonly input: ExecutionInput;
  readonly key: CacheKey;
  readonly caller: Caller | null;
}

/**
 * Returns the cached response, or joins the same call of another request. Executes the call on a cache miss, and for endpoints
 * that are not cached. An in-memory hit is returned at once: a promise would cost a turn of the event loop.
 * @throws as `execute` does
 */
export function executeCached(
  context: CachedExecutionContext,
  input: ExecutionInput,
): CallResult | Promise<CallResult> {
  const { responseCache } = context;
  const { cachePolicy, queryBuilder } = input.call.candidate;
  if (cachePolicy === null || responseCache === null || !input.call.mayCache) return execute(context, input);
  if (cachePolicy.tables.length > 0 && !responseCache.isFollowed(cachePolicy.routine, cachePolicy.tables))
    return executeMiss(responseCache.counts, context, input);
  const key = createCacheKey(cachePolicy, input.call, {
    scope: responseCache.scope,
    contentType: input.format.contentType,
    isCustomQuery: queryBuilder !== null,
  });
  return lookUp({ context, responseCache, cachePolicy, input, key, caller: input.caller ?? null });
}

function lookUp(lookup: Lookup): CallResult | Promise<CallResult> {
  const pending = lookup.responseCache.cache.get(lookup.key);
  return pending instanceof Promise ? pending.then((found) => reuse(lookup, found)) : reuse(lookup, pending);
}

function reuse(lookup: Lookup, found: CacheLookup): CallResult | Promise<CallResult> {
  if (found.response === null) return executeShared(lookup, found);
  lookup.responseCache.counts.hits++;
  return toResult(lookup, found.response, true);
}

/** Executes the call on a cache miss, or waits for the same call of another request. */
async function executeShared(lookup: Lookup, miss: CacheMiss): Promise<CallResult> {
  const { responseCache, key, caller, context, input } = lookup;
  const { counts } = responseCache;
  // The response would carry a refreshed cookie of this caller.
  if (caller?.headers !== undefined) return executeMiss(counts, context, input);
  const flightKey = createFlightKey(miss, key);
  const flight = responseCache.inFlight.get(flightKey);
  if (flight === undefined) return executeAsLeader(lookup, flightKey, miss.version);
  const response = await follow(flight, input);
  if (response === 'not-shareable') return executeMiss(counts, context, input);
  if (response === 'retry') return lookUp(lookup);
  counts.shared++;
  return toResult(lookup, response, false);
}

function executeMiss(counts: CacheCounts, context: CachedExecutionContext, input: ExecutionInput): Promise<CallResult> {
  counts.misses++;
  return execute(context, input);
}

/** After an invalidation, requests do not join a call that started before it: the version differs. */
function createFlightKey({ version }: CacheMiss, { text }: CacheKey): string {
  return `${version} ${text}`;
}

function toResult(
  { cachePolicy, context, input, caller }: Lookup,
  response: CachedResponse,
  isHit: boolean,
): CallResult {
  return toCallResult(response, {
    cachePolicy,
    request: input.request,
    isPublic: context.isPublic && cachePolicy.isPublic,
    isHit,
    refreshesCredentials: caller?.headers !== undefined,
  });
}

/** Executes the call for this request and all followers, and stores its response. */
async function executeAsLeader(lookup: Lookup, flightKey: string, version: string): Promise<CallResult> {
  const { context, responseCache, input, key, cachePolicy } = lookup;
  const { cache, sizeLimit, inFlight, versionTimes } = responseCache;
  responseCache.counts.misses++;
  const flight = new SingleFlight(input.call, () => inFlight.delete(flightKey));
  inFlight.set(flightKey, flight);
  flight.join(input.request);
  try {
    const result = await execute(context, {
      ...input,
      holdLimit: sizeLimit,
      ...(versionTimes === null ? {} : { committedBefore: versionTimes.firstSeen(key.routine, version) }),
      onCancellable: (cancel) => flight.cancelWith(cancel),
    });
    const response = toCachedResponse(result, sizeLimit);
    flight.resolve(response);
    if (response === null) return result;
    const stored = cache.set(key, response, { version, expires: cachePolicy.expires });
    // Until the cache has stored the response, requests find it in the flight.
    if (stored !== undefined) void stored.then(() => remove(inFlight, flightKey, flight));
    else inFlight.delete(flightKey);
    return toResult(lookup, response, false);
  } catch (error) {
    flight.reject(error);
    throw error;
  } finally {
    if (!flight.hasResponse) remove(inFlight, flightKey, flight);
  }
}

function remove(inFlight: Map<string, SingleFlight>, flightKey: string, flight: SingleFlight): void {
  if (inFlight.get(flightKey) === flight) inFlight.delete(flightKey);
}

/** Waits for the leader's response. `retry`: the leader failed with other values than those of this call. */
async function follow(
  flight: SingleFlight,
  { call, request }: ExecutionInput,
): Promise<CachedResponse | 'not-shareable' | 'retry'> {
  flight.join(request);
  try {
    return (await flight.response) ?? 'not-shareable';
  } catch (error) {
    if (flight.hasValuesOf(call)) throw error;
    return 'retry';
  }
}

/** One call whose response several requests wait for. It is cancelled when all of them have disconnected. */
class SingleFlight {
  /** Null: the response cannot be shared. */
  readonly response: Promise<CachedResponse | null>;
  readonly #call: ExecutableCall;
  readonly #onAbandoned: () => void;
  #resolve!: (response: CachedResponse | null) => void;
  #reject!: (error: unknown) => void;
  #waiting = 0;
  #cancel: (() => void) | null = null;
  #isSettled = false;
  hasResponse = false;

  /**
   * @param call the call of the leader
   * @param onAbandoned called before the call is cancelled because no request waits for it
   */
  constructor(call: ExecutableCall, onAbandoned: () => void) {
    this.#call = call;
    this.#onAbandoned = onAbandoned;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The leader handles the rejection itself; without followers it would be unhandled.
    this.response.catch(() => undefined);
  }

  /** Whether a call has the same values, and so would fail with the same error. */
  hasValuesOf({ values, arguments: statementValues }: ExecutableCall): boolean {
    return isSame(this.#call.values, values) && isSame(this.#call.arguments, statementValues);
  }

  join(request: GatewayRequest): void {
    this.#waiting++;
    request.onDisconnect(() => {
      this.#waiting--;
      this.#cancelIfAbandoned();
    });
  }

  /** Receives the function that cancels the call. */
  cancelWith(cancel: () => void): void {
    this.#cancel = cancel;
    this.#cancelIfAbandoned();
  }

  resolve(response: CachedResponse | null): void {
    this.#isSettled = true;
    this.hasResponse = response !== null;
    this.#resolve(response);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.#reject(error);
  }

  #cancelIfAbandoned(): void {
    if (this.#isSettled || this.#waiting > 0 || this.#cancel === null) return;
    this.#isSettled = true;
    this.#onAbandoned();
    this.#cancel();
  }
}

/** Compares bytes by identity: comparing their content may cost more than a call. */
function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
