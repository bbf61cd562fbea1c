import { type ExecutionContext, execute, type CallResult, type ExecutionInput } from '../execute.ts';
import type { Cache, CachedResponse, CacheKey, CacheMiss, Caller } from '../../ports/ports.ts';
import type { SizeLimit } from '../../response/response-writer.ts';
import { type CachePolicy, createCacheKey } from './cache-key.ts';
import { toCachedResponse, toCallResult } from './cached-response.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { ExecutableCall } from '../build-query.ts';

/** Where answers are kept, and the calls that are about to give one; lives as long as the gateway. */
export interface ResponseCache {
  readonly cache: Cache;
  /** The database that the answers are of. */
  readonly scope: string;
  /** What is larger is not kept. */
  readonly sizeLimit: SizeLimit;
  /** By version and key. */
  readonly inFlight: Map<string, SingleFlight>;
}

export interface CachedExecutionContext extends ExecutionContext {
  /** Null: nothing is kept. */
  readonly responseCache: ResponseCache | null;
  /** Whether an answer depends on nobody as far as the host's options can tell. */
  readonly isPublic: boolean;
}

/** A request that looks for a kept answer. */
interface Search {
  readonly current: CachedExecutionContext;
  readonly keeping: ResponseCache;
  readonly caching: CachePolicy;
  readonly task: ExecutionInput;
  readonly key: CacheKey;
  readonly caller: Caller | null;
}

/**
 * Gives the answer that is kept, or that another request is about to get; makes the call where there is none, or where nothing
 * is kept.
 * @throws as `execute` does
 */
export function executeCached(
  current: CachedExecutionContext,
  task: ExecutionInput,
  caller: Caller | null,
): Promise<CallResult> {
  const { responseCache: keeping } = current;
  const { cachePolicy: caching, queryBuilder: make } = task.call.candidate;
  if (caching === null || keeping === null) return execute(current, task);
  const { scope } = keeping;
  const key = createCacheKey(caching, task.call, { scope, form: task.format.contentType, made: make !== null });
  return search({ current, keeping, caching, task, key, caller });
}

async function search(looking: Search): Promise<CallResult> {
  const { keeping, key, caller, current, task } = looking;
  for (;;) {
    const asked = keeping.cache.get(key);
    // One look after the other; what is at hand costs no turn.
    // oxlint-disable-next-line no-await-in-loop
    const look = asked instanceof Promise ? await asked : asked;
    if (look.response !== null) return given(looking, look.response, true);
    // Its answer would renew a cookie: it is this caller's alone.
    if (caller?.headers !== undefined) return execute(current, task);
    const place = placeOf(look, key);
    const flight = keeping.inFlight.get(place);
    if (flight === undefined) return lead(looking, place, look.version);
    // oxlint-disable-next-line no-await-in-loop
    const answer = await follow(flight, task);
    if (answer === 'alone') return execute(current, task);
    if (answer !== 'again') return given(looking, answer, false);
  }
}

/** Who looks after an answer was made void does not wait for a call that began before. */
function placeOf({ version }: CacheMiss, { text }: CacheKey): string {
  return `${version} ${text}`;
}

function given({ caching, current, task, caller }: Search, answer: CachedResponse, again: boolean): CallResult {
  const { request } = task;
  const shared = current.isPublic && caching.isPublic;
  return toCallResult(answer, {
    cachePolicy: caching,
    request,
    isPublic: shared,
    isHit: again,
    refreshesCredentials: caller?.headers !== undefined,
  });
}

/** Makes the call, for all who come for its answer meanwhile. */
async function lead(looking: Search, place: string, version: string): Promise<CallResult> {
  const { current, keeping, task, key, caching } = looking;
  const { cache, sizeLimit: bounds, inFlight: flights } = keeping;
  const flight = new SingleFlight(task.call, () => flights.delete(place));
  flights.set(place, flight);
  flight.join(task.request);
  try {
    const outcome = await execute(current, {
      ...task,
      holdLimit: bounds,
      onCancellable: (cancel) => flight.endWith(cancel),
    });
    const answer = toCachedResponse(outcome, bounds);
    flight.resolve(answer);
    if (answer === null) return outcome;
    const stored = cache.set(key, answer, { version, expires: caching.expires });
    // Nobody waits for that, but who comes meanwhile finds the answer here.
    if (stored !== undefined) void stored.then(() => remove(flights, place, flight));
    else flights.delete(place);
    return given(looking, answer, false);
  } catch (error) {
    flight.reject(error);
    throw error;
  } finally {
    if (!flight.successful) remove(flights, place, flight);
  }
}

function remove(flights: Map<string, SingleFlight>, place: string, flight: SingleFlight): void {
  if (flights.get(place) === flight) flights.delete(place);
}

/** `alone`: its answer cannot be shared; `again`: it has failed, which says nothing of a call with other values. */
async function follow(
  flight: SingleFlight,
  { call, request }: ExecutionInput,
): Promise<CachedResponse | 'alone' | 'again'> {
  flight.join(request);
  try {
    return (await flight.answer) ?? 'alone';
  } catch (error) {
    if (flight.isOf(call)) throw error;
    return 'again';
  }
}

/** One call whose answer several requests wait for. It goes on as long as one of them does. */
export class SingleFlight {
  /** Null: it is none that can be shared. */
  readonly answer: Promise<CachedResponse | null>;
  readonly #call: ExecutableCall;
  readonly #abandoned: () => void;
  #resolve!: (answer: CachedResponse | null) => void;
  #reject!: (error: unknown) => void;
  #waiting = 0;
  #cancel: (() => void) | null = null;
  #over = false;
  /** Whether it has an answer for all. */
  successful = false;

  /**
   * @param call that of the request that leads
   * @param abandoned told right before it is cancelled because nobody waits any more
   */
  constructor(call: ExecutableCall, abandoned: () => void) {
    this.#call = call;
    this.#abandoned = abandoned;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The leader hears of a failure by itself; there may be nobody else.
    this.answer.catch(() => undefined);
  }

  /** Whether a call has the very same values, so that it would fail with the same. */
  isOf({ values, arguments: own }: ExecutableCall): boolean {
    return equal(this.#call.values, values) && equal(this.#call.arguments, own);
  }

  join(request: GatewayRequest): void {
    this.#waiting++;
    request.onDisconnect(() => {
      this.#waiting--;
      this.#endIfAbandoned();
    });
  }

  /** Takes what ends the call. */
  endWith(cancel: () => void): void {
    this.#cancel = cancel;
    this.#endIfAbandoned();
  }

  /** The call has come out well; who leaves from now on has no say in it. */
  resolve(answer: CachedResponse | null): void {
    this.#over = true;
    this.successful = answer !== null;
    this.#resolve(answer);
  }

  reject(error: unknown): void {
    this.#over = true;
    this.#reject(error);
  }

  #endIfAbandoned(): void {
    if (this.#over || this.#waiting > 0 || this.#cancel === null) return;
    this.#over = true;
    this.#abandoned();
    this.#cancel();
  }
}

/** Bytes are the same only when they are the same piece: to compare them may cost more than a call. */
function equal(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
