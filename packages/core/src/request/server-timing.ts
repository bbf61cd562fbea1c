import type { GatewayResponse } from '../http/response.ts';

/**
 * The phases of a request, with the names of PostgREST: authentication and authorization, reading the request and making its statement,
 * hooks, the database with the choice of the connection and the wait for it, and making the response.
 */
export type TimedPhase = 'jwt' | 'parse' | 'plan' | 'transaction' | 'response';

/** Takes the phases that a request enters. */
export interface PhaseTimer {
  enter(phase: TimedPhase): void;
}

export const noTimer: PhaseTimer = { enter: () => {} };

/** Measures the phases of a request, of which each begins where another one ends. A second attempt adds to those of the first. */
export class ServerTiming implements PhaseTimer {
  readonly #durations = new Map<TimedPhase, number>();
  #phase: TimedPhase = 'jwt';
  #since = performance.now();

  enter(phase: TimedPhase): void {
    const now = performance.now();
    this.#durations.set(this.#phase, (this.#durations.get(this.#phase) ?? 0) + now - this.#since);
    this.#phase = phase;
    this.#since = now;
  }

  /** Returns the response with the header `Server-Timing` (W3C): the milliseconds of the phases that the request has reached. */
  addTo(response: GatewayResponse): GatewayResponse {
    this.enter(this.#phase);
    const metrics = Array.from(this.#durations, ([phase, duration]) => `${phase};dur=${duration.toFixed(3)}`);
    return { ...response, headers: [...response.headers, 'server-timing', metrics.join(', ')] };
  }
}
