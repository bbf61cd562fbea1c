import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { ByteSink, ByteSource, GatewayResponse } from '../../http/response.ts';
import type { Caller } from '../../ports/ports.ts';
import type { RateLimitDecision, RateLimitPolicy } from '../../ports/rate-limit-store.ts';
import type { CompiledRateLimit } from './compile-rate-limit.ts';

/** A request of an endpoint with a rate limit. It is counted once, also when its stages run a second time. */
export class LimitedRequest {
  readonly #rateLimit: CompiledRateLimit;
  readonly #request: GatewayRequest;
  #isCounted = false;
  #key = '';
  /** Null before the decision, and without one of an unavailable store. */
  #decision: RateLimitDecision | null = null;
  #isReleased = false;

  constructor(rateLimit: CompiledRateLimit, request: GatewayRequest) {
    this.#rateLimit = rateLimit;
    this.#request = request;
  }

  /**
   * Counts the request and authorizes its caller. Limits by user count after the authorization; others before it, so that they protect
   * the verification of credentials too.
   * @throws Problem 429 `quota-exceeded`, 503 `rate-limit-unavailable`, and the problems of `authorize`
   */
  admit<Result extends { readonly caller: Caller | null }>(
    authorize: () => Result | Promise<Result>,
  ): Result | Promise<Result> {
    if (this.#isCounted) return authorize();
    if (this.#rateLimit.needsCaller) return this.#admitUser(authorize);
    const pending = this.#count(null);
    return pending === null ? authorize() : pending.then(authorize);
  }

  /** Adds the headers of the limit to the response, and releases the permit when the response has ended. */
  finish(response: GatewayResponse | undefined): GatewayResponse | undefined {
    const decision = this.#decision;
    // A stale endpoint may be gone: the host has the next handler.
    if (response?.kind !== 'stream') this.release();
    if (response === undefined || decision === null) return response;
    const { policy, policyHeader } = this.#rateLimit;
    const headers = [...response.headers, 'ratelimit-policy', policyHeader, 'ratelimit', limitItem(policy, decision)];
    if (response.kind === 'whole') return { ...response, headers };
    return { ...response, headers, body: decision.permit === null ? response.body : this.#observe(response.body) };
  }

  /** Ends the concurrent request. Does nothing the second time. */
  release(): void {
    const permit = this.#decision?.permit ?? null;
    if (permit === null || this.#isReleased) return;
    this.#isReleased = true;
    this.#rateLimit.store.release(this.#rateLimit.policy, this.#key, permit);
  }

  #observe(body: ByteSource): ByteSource {
    const release = (): void => this.release();
    this.#request.onDisconnect(release);
    return new ObservedSource(body, release);
  }

  /** A request that authorization refuses counts for its address: credentials could be guessed without a limit otherwise. */
  async #admitUser<Result extends { readonly caller: Caller | null }>(
    authorize: () => Result | Promise<Result>,
  ): Promise<Result> {
    let result: Result;
    try {
      result = await authorize();
    } catch (error) {
      if (error instanceof Problem && error.status < 500) await this.#count(null);
      throw error;
    }
    const pending = this.#count(result.caller);
    if (pending !== null) await pending;
    return result;
  }

  /** Returns null when the decision was made at once. */
  #count(caller: Caller | null): Promise<void> | null {
    const { store, policy, keyOf } = this.#rateLimit;
    this.#isCounted = true;
    this.#key = keyOf(this.#request, caller);
    const decision = store.acquire(policy, this.#key);
    if (decision instanceof Promise) return decision.then((made) => this.#decide(made));
    this.#decide(decision);
    return null;
  }

  #decide(decision: RateLimitDecision | null): void {
    const { policy, refusesWhenUnavailable, counts } = this.#rateLimit;
    this.#decision = decision;
    if (decision === null && refusesWhenUnavailable) {
      throw new Problem('rate-limit-unavailable', { headers: ['retry-after', '1'] });
    }
    if (decision === null || decision.allowed) return;
    counts.refused++;
    throw quotaExceeded(policy, decision);
  }
}

/** Returns a Service Limit Item (draft-ietf-httpapi-ratelimit-headers-11, section 4.1). */
function limitItem({ name }: RateLimitPolicy, { remaining, resetMs }: RateLimitDecision): string {
  return `"${name}";r=${remaining}${resetMs === null ? '' : `;t=${toSeconds(resetMs)}`}`;
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

function quotaExceeded(policy: RateLimitPolicy, { resetMs }: RateLimitDecision): Problem {
  const seconds = toSeconds(resetMs ?? 1000);
  const detail =
    policy.type === 'concurrency'
      ? `The rate limit "${policy.name}" allows ${policy.limit} concurrent requests; try again when one has ended.`
      : `The rate limit "${policy.name}" allows ${policy.limit} requests in ${policy.windowMs / 1000} s; try again in ${seconds} s.`;
  return new Problem('quota-exceeded', {
    detail,
    members: { 'violated-policies': [policy.name] },
    headers: ['retry-after', String(seconds)],
  });
}

/** A byte stream with a callback for its end. */
class ObservedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #ended: () => void;

  /** @param ended called at least once when the stream has ended, failed or been cancelled */
  constructor(source: ByteSource, ended: () => void) {
    this.#source = source;
    this.#ended = ended;
  }

  pipe(sink: ByteSink): void {
    this.#source.pipe({
      write: (chunk, memory) => sink.write(chunk, memory),
      end: (chunk, memory) => {
        this.#ended();
        sink.end(chunk, memory);
      },
      fail: (error) => {
        this.#ended();
        sink.fail(error);
      },
    });
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(): void {
    this.#ended();
    this.#source.cancel();
  }
}
