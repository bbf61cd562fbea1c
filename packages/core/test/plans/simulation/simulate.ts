import { PlanChoice, type PlanCounts, type PlanTrial } from '../../../src/request/plans/plan-choice.ts';
import type { SettledPlan } from '../../../src/request/run.ts';
import { type CallCost, type PlanMode, ServerSession } from './server-session.ts';

/** Calls of one statement. */
export interface Workload {
  readonly name: string;
  readonly calls: number;
  /** The time at which the client sends a call. */
  readonly sentAt: (index: number) => number;
  readonly cost: (call: RunningCall) => CallCost;
  readonly connections: number;
  /** The calls before which `ANALYZE` invalidates all plans. */
  readonly analyzedAt: readonly number[];
  /** The calls after which a session ends, and another one replaces it. */
  readonly sessionCalls: number;
  /** The relations of the statement: PostgreSQL estimates the time of planning by them. */
  readonly relations: number;
  /** Milliseconds by which measured plans may exceed their share. */
  readonly lossMs: number;
  /** The calls that must have a generic plan, at least. */
  readonly leastGeneric: number;
}

/** What the cost of a call may depend on, when it begins. */
export interface RunningCall {
  readonly index: number;
  readonly random: Random;
  /** An attacker may know it. */
  readonly plan: CallPlanKind;
  readonly now: number;
}

/** How the gateway runs a call. */
export type CallPlanKind = 'auto' | 'generic' | 'trial';

/** Returns numbers from 0 up to 1. */
export type Random = () => number;

/** `measured`: the gateway chooses. */
export type Strategy = PlanMode | 'measured';

export interface Outcome {
  /** The time of all calls in the server, of what trials add to it, and of changes of the mode. */
  readonly spentMs: number;
  readonly trials: number;
  readonly cancelled: number;
  readonly fallbacks: number;
  /** The calls with a generic plan, besides trials. */
  readonly generic: number;
}

/** A trial has four more statements: its settings, its transaction, and two readings of the clock. */
const trialMs = 0.1;
const modeChangeMs = 0.03;
/** The gateway checks the calls that still run. */
const checkMs = 100;
/** The network and the event loop of the gateway, which the time of a settled call includes: the mean. */
const meanGatewayMs = 0.1;

/** Returns a generator of the same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs all calls of a workload, which overlap as they are sent and last. */
export function simulate(workload: Workload, strategy: Strategy, seed: number): Outcome {
  return new Simulation(workload, strategy, seed).run();
}

interface Call {
  readonly index: number;
  readonly cost: CallCost;
}

interface Connection {
  session: ServerSession;
  backend: string;
  calls: number;
  isBusy: boolean;
  isGeneric: boolean;
}

class Simulation {
  readonly #workload: Workload;
  readonly #strategy: Strategy;
  readonly #seed: number;
  readonly #connections: Connection[];
  readonly #noise: Random;
  readonly #counts: PlanCounts = {
    comparisons: { auto: 0, generic: 0, undecided: 0, exceeded: 0 },
    fallbacks: 0,
  };
  readonly #choice = new PlanChoice(() => this.#now, this.#counts);
  /** What the gateway learns later, by its time. */
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  #now = 0;
  #spentMs = 0;
  #trials = 0;
  #generic = 0;
  #analyzedAt = -1;
  #backends = 0;
  #selections = 0;
  readonly #waiting: (() => void)[] = [];
  /** Arrays that `#select` fills: one for each call would take most of the time. */
  readonly #free: Connection[] = [];
  readonly #others: Connection[] = [];

  constructor(workload: Workload, strategy: Strategy, seed: number) {
    this.#workload = workload;
    this.#strategy = strategy;
    this.#seed = seed;
    this.#noise = createRandom(seed + 1);
    this.#connections = Array.from({ length: workload.connections }, () => this.#connect());
  }

  run(): Outcome {
    const { calls, sentAt, analyzedAt } = this.#workload;
    for (let index = 0; index < calls; index++) {
      this.#runEvents(sentAt(index));
      if (analyzedAt.includes(index)) this.#analyzedAt = index;
      this.#call(index);
    }
    this.#runEvents(Number.POSITIVE_INFINITY);
    return {
      spentMs: this.#spentMs,
      trials: this.#trials,
      cancelled: this.#counts.comparisons.exceeded,
      fallbacks: this.#counts.fallbacks,
      generic: this.#generic,
    };
  }

  #connect(): Connection {
    const session = new ServerSession(this.#workload.relations);
    return { session, backend: String(++this.#backends), calls: 0, isBusy: false, isGeneric: false };
  }

  #runEvents(until: number): void {
    while (this.#events.length > 0 && this.#events[0]!.at <= until) {
      const { at, run } = this.#events.shift()!;
      this.#now = at;
      run();
    }
    if (Number.isFinite(until)) this.#now = until;
  }

  #later(at: number, run: () => void): void {
    let index = this.#events.length;
    while (index > 0 && this.#events[index - 1]!.at > at) index--;
    this.#events.splice(index, 0, { at, run });
  }

  #call(index: number): void {
    const planned = this.#strategy === 'measured' ? this.#choice.next() : null;
    this.#waiting.push(() => {
      const plan: CallPlanKind = planned?.trial ? 'trial' : planned?.plan.isGeneric === true ? 'generic' : 'auto';
      const random = createRandom(Math.imul(index + 1, 0x9e_37_79_b1) ^ this.#seed);
      const call = { index, cost: this.#workload.cost({ index, random, plan, now: this.#now }) };
      if (planned === null) this.#run(this.#select(false), this.#strategy as PlanMode, call, () => undefined);
      else if (planned.trial === null) this.#runSettled(planned.plan, call);
      else this.#runTrial(planned.trial, call);
    });
    this.#send();
  }

  /** Sends the calls that wait, as long as a connection is free. */
  #send(): void {
    while (this.#waiting.length > 0 && this.#connections.some(({ isBusy }) => !isBusy)) this.#waiting.shift()!();
  }

  #runSettled(plan: SettledPlan, call: Call): void {
    const { isGeneric } = plan;
    const connection = this.#select(isGeneric);
    if (connection.isGeneric !== isGeneric) this.#spentMs += modeChangeMs;
    connection.isGeneric = isGeneric;
    if (isGeneric) this.#generic++;
    const startedAt = this.#now;
    const gatewayMs = -meanGatewayMs * Math.log(1 - this.#noise());
    const endsAt = this.#run(connection, isGeneric ? 'force_generic_plan' : 'auto', call, () =>
      plan.ended(this.#now + gatewayMs - startedAt, isGeneric),
    );
    for (let at = Math.ceil(startedAt / checkMs) * checkMs; at < endsAt; at += checkMs)
      this.#later(at, () => plan.running(at - startedAt, isGeneric));
  }

  #runTrial(trial: PlanTrial, call: Call): void {
    this.#trials++;
    this.#spentMs += trialMs;
    const connection = this.#select(false);
    const { backend } = connection;
    const mode = trial.isGeneric ? 'force_generic_plan' : 'auto';
    const elapsedMs = connection.session.run(mode, call.index, this.#analyzedAt, call.cost);
    const limitMs = trial.limitMs ?? Number.POSITIVE_INFINITY;
    if (elapsedMs <= limitMs)
      return void this.#occupy(connection, elapsedMs, () => trial.completed(elapsedMs, backend));
    this.#occupy(connection, limitMs, () => {
      trial.exceeded();
      // The wait of the call passed while its trial ran.
      const cost = { ...call.cost, waitMs: Math.max(0, call.cost.waitMs - limitMs) };
      this.#run(this.#select(false), 'auto', { ...call, cost }, () => undefined);
    });
  }

  /** Returns a free connection, if possible one that has the mode, as the pool does. */
  #select(isGeneric: boolean): Connection {
    const preferred = this.#free;
    const others = this.#others;
    preferred.length = others.length = 0;
    for (const connection of this.#connections)
      if (!connection.isBusy) (connection.isGeneric === isGeneric ? preferred : others).push(connection);
    const candidates = preferred.length > 0 ? preferred : others;
    const selected = candidates[this.#selections++ % candidates.length]!;
    if (++selected.calls <= this.#workload.sessionCalls) return selected;
    return Object.assign(selected, this.#connect(), { calls: 1 });
  }

  /** @returns the time of its end */
  #run(connection: Connection, mode: PlanMode, { index, cost }: Call, ended: () => void): number {
    return this.#occupy(connection, connection.session.run(mode, index, this.#analyzedAt, cost), ended);
  }

  #occupy(connection: Connection, elapsedMs: number, ended: () => void): number {
    this.#spentMs += elapsedMs;
    connection.isBusy = true;
    const endsAt = this.#now + elapsedMs;
    this.#later(endsAt, () => {
      connection.isBusy = false;
      ended();
      this.#send();
    });
    return endsAt;
  }
}
