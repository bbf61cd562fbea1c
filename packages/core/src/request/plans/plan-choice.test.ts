import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallPlan } from '../../postgres/port.ts';
import { PlanChoice, type PlanCounts, type PlanTrial } from './plan-choice.ts';

/** The times of a call in milliseconds, by its plan. */
interface Cost {
  readonly auto: number;
  readonly generic: number;
  /** The time of a trial with a generic plan, where its connection has a younger one. Default: `generic`. */
  readonly tried?: number;
}

/** `auto` and `generic`: settled calls. `tried`: a trial with a generic plan; `cancelled`: at its limit. */
type Run = 'auto' | 'generic' | 'tried with auto' | 'tried' | 'cancelled';

/** One statement, whose calls run one after the other on a few connections. */
class Simulation {
  now = 0;
  readonly runs: Run[] = [];
  /** Milliseconds that calls have taken beyond those with `auto`. */
  lostMs = 0;
  readonly counts: PlanCounts = {
    comparisons: { auto: 0, generic: 0, undecided: 0, exceeded: 0 },
    fallbacks: 0,
  };
  readonly choice = new PlanChoice(() => this.now, this.counts);
  readonly #connections: number;
  readonly #pauseMs: number;

  /** @param pauseMs between two calls */
  constructor({ connections = 1, pauseMs = 1 } = {}) {
    this.#connections = connections;
    this.#pauseMs = pauseMs;
  }

  call(cost: Cost): Run {
    const { plan, trial } = this.choice.next();
    const run = plan === null ? this.#try(trial, cost) : this.#runSettled(plan, cost);
    this.runs.push(run);
    return run;
  }

  #runSettled(plan: CallPlan, { auto, generic }: Cost): Run {
    // The end of the call may change the mode of later ones.
    const { isGeneric } = plan;
    const spent = isGeneric ? generic : auto;
    this.#spend(spent, spent - auto);
    plan.ended(spent, isGeneric);
    return isGeneric ? 'generic' : 'auto';
  }

  #try(trial: PlanTrial, { auto, generic, tried = generic }: Cost): Run {
    const { isGeneric, limitMs } = trial;
    if (isGeneric && tried > limitMs!) {
      this.#spend(limitMs!, limitMs!);
      trial.exceeded();
      return 'cancelled';
    }
    const spent = isGeneric ? tried : auto;
    this.#spend(spent, spent - auto);
    trial.completed(spent, String(this.runs.length % this.#connections));
    return isGeneric ? 'tried' : 'tried with auto';
  }

  #spend(milliseconds: number, lostMs: number): void {
    this.now += milliseconds + this.#pauseMs;
    this.lostMs += lostMs;
  }

  calls(count: number, cost: (index: number) => Cost): void {
    for (let index = 0; index < count; index++) this.call(cost(index));
  }

  count(run: Run): number {
    return this.runs.filter((other) => other === run).length;
  }
}

const planningCosts: Cost = { auto: 0.2, generic: 0.05 };
const valueDecides: Cost = { auto: 0.2, generic: 25 };

test('a call that planning makes slow runs with a generic plan after ten trials of each mode', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => planningCosts);
  expect(simulation.choice.isGeneric).toBe(true);
  expect(simulation.counts.comparisons).toEqual({ auto: 0, generic: 1, undecided: 0, exceeded: 0 });
  // The first trial of each mode on the connection does not count, and auto is tried twice before the first generic plan.
  expect([simulation.count('tried'), simulation.count('tried with auto')]).toEqual([11, 13]);
  expect(simulation.runs.findIndex((run) => run === 'generic')).toBeLessThan(200);
});

test('trials of many connections come to the same decision', () => {
  const simulation = new Simulation({ connections: 37 });
  simulation.calls(2_000, () => planningCosts);
  expect(simulation.choice.isGeneric).toBe(true);
});

test('a call whose values decide the plan keeps auto: one trial is cancelled, and then ever fewer', () => {
  const simulation = new Simulation();
  simulation.calls(64 + 16, () => valueDecides);
  expect([simulation.count('cancelled'), simulation.count('generic')]).toEqual([1, 0]);
  // Five hours.
  for (let minute = 0; minute < 5 * 60; minute++) {
    simulation.now += 60_000;
    simulation.calls(100, () => valueDecides);
  }
  expect(simulation.count('generic')).toBe(0);
  expect(simulation.count('cancelled')).toBeLessThan(20);
  expect(simulation.lostMs).toBeLessThan(20 * 25);
});

test('calls of the same cost keep auto', () => {
  const simulation = new Simulation({ connections: 3 });
  simulation.calls(3_000, () => ({ auto: 0.1, generic: 0.1 }));
  expect([simulation.choice.isGeneric, simulation.count('generic')]).toEqual([false, 0]);
  // After one second and two.
  expect(simulation.counts.comparisons).toEqual({ auto: 2, generic: 0, undecided: 0, exceeded: 0 });
});

test('long calls are not tried', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => ({ auto: 80, generic: 1 }));
  expect(new Set(simulation.runs)).toEqual(new Set(['auto']));
});

test('arguments that are cheap in trials only: each change back to auto is followed by a longer pause', () => {
  const simulation = new Simulation({ pauseMs: 200 });
  const changes: number[] = [];
  while (simulation.now < 8 * 3_600_000) {
    const { fallbacks } = simulation.counts;
    simulation.call(simulation.choice.isGeneric ? { auto: 0.2, generic: 4_000 } : planningCosts);
    if (simulation.counts.fallbacks > fallbacks) changes.push(simulation.now);
  }
  const pauses = changes.slice(1).map((time, index) => time - changes[index]!);
  for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThan(Math.min(3_600_000, 1_000 * 2 ** index));
  expect(changes.length).toBeLessThan(20);
  expect(simulation.count('generic')).toBe(changes.length);
});

test.each(['ended', 'failed'] as const)(
  'a call that still runs brings auto back before it has %s, also for calls that wait',
  (end) => {
    const simulation = new Simulation();
    simulation.calls(2_000, () => planningCosts);
    const { plan } = simulation.choice.next();
    // Generic plans have saved more than 100 ms, of which 100 count.
    plan!.running(199, true);
    expect([simulation.choice.isGeneric, plan!.isGeneric]).toEqual([true, true]);
    plan!.running(201, true);
    expect([simulation.choice.isGeneric, plan!.isGeneric, simulation.counts.fallbacks]).toEqual([false, false, 1]);
    // Its end changes nothing, but the next trials have to wait until its loss is 5 % of the time.
    plan![end](5_000, true);
    expect(simulation.counts.fallbacks).toBe(1);
    const trialsBefore = simulation.count('tried');
    while (simulation.now < 90_000) simulation.call(planningCosts);
    expect(simulation.count('tried')).toBe(trialsBefore);
    while (simulation.now < 110_000) simulation.call(planningCosts);
    expect(simulation.choice.isGeneric).toBe(true);
  },
);

test('calls that waited at a return to auto ran with auto: they delay no trials', () => {
  const simulation = new Simulation();
  simulation.calls(2_000, () => planningCosts);
  const { plan } = simulation.choice.next();
  plan!.running(300, true);
  expect(simulation.choice.isGeneric).toBe(false);
  for (let call = 0; call < 10; call++) plan!.ended(30_000, false);
  plan!.failed(30_000, false);
  while (simulation.now < 10_000) simulation.call(planningCosts);
  expect(simulation.choice.isGeneric).toBe(true);
});

test.each([
  ['20 times the longest of them', 30, 600],
  ['an hour at most', 300, 3_600],
])('ten calls that waited for one lock delay trials by %s', (_, lockedSeconds, delaySeconds) => {
  const simulation = new Simulation();
  simulation.calls(2_000, () => planningCosts);
  const { plan } = simulation.choice.next();
  plan!.running(300, true);
  simulation.now += lockedSeconds * 1_000;
  for (let call = 0; call < 10; call++) plan!.ended(lockedSeconds * 1_000, true);
  const endsAt = simulation.now + delaySeconds * 1_000;
  const trials = simulation.count('tried');
  while (simulation.now < endsAt - 1_000) {
    simulation.now += 900;
    simulation.call(planningCosts);
  }
  expect(simulation.count('tried')).toBe(trials);
  simulation.now = endsAt + delaySeconds * 30;
  simulation.calls(400, () => planningCosts);
  expect(simulation.choice.isGeneric).toBe(true);
});

test('calls that become short while generic plans are chosen: a generic plan that is slow later is given up at once', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => ({ auto: 25, generic: 15 }));
  // Trials may have begun before.
  for (let hour = 0; hour < 2; hour++) {
    simulation.now += 3_600_000;
    simulation.calls(1_000, () => planningCosts);
  }
  expect(simulation.choice.isGeneric).toBe(true);
  const before = simulation.count('generic');
  for (let call = 0; call < 1_000; call++) simulation.call({ auto: 0.2, generic: 8, tried: 0.05 });
  expect(simulation.counts.fallbacks).toBe(1);
  // Each one loses 7.8 ms of the 200.
  expect(simulation.count('generic') - before).toBeLessThan(30);
});

test('after a delay by the machine, which auto has too, a generic plan comes back', () => {
  const simulation = new Simulation();
  const noise = (index: number): Cost => (index % 3_000 === 2_999 ? { auto: 400, generic: 400 } : planningCosts);
  simulation.calls(100_000, noise);
  expect(simulation.counts.fallbacks).toBeGreaterThan(0);
  expect(simulation.count('generic') / simulation.runs.length).toBeGreaterThan(0.5);
});

test('short fallbacks change nothing while generic plans save more time', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => planningCosts);
  // Generic plans save 0.15 ms a call, and so 60 ms between two fallbacks.
  simulation.calls(20_000, (index) => (index % 400 === 399 ? { auto: 50, generic: 50 } : planningCosts));
  expect(simulation.counts.fallbacks).toBe(0);
  expect(simulation.count('generic')).toBeGreaterThan(20_500);
});

test('arguments that are slow with a generic plan cost at most 200 ms and the last call', () => {
  const simulation = new Simulation();
  simulation.calls(10_000, () => planningCosts);
  const savedMs = -simulation.lostMs;
  expect(savedMs).toBeGreaterThan(1_000);
  while (simulation.choice.isGeneric) simulation.call({ auto: 0.2, generic: 60 });
  expect(simulation.counts.fallbacks).toBe(1);
  expect(simulation.lostMs + savedMs).toBeLessThan(200 + 60);
});

test('a table that grows: a generic plan that becomes slower in small steps is given up', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => ({ auto: 1, generic: 0.25 }));
  expect(simulation.choice.isGeneric).toBe(true);
  for (let factor = 1; factor < 16; factor *= 1.01) {
    simulation.calls(20, () => ({ auto: 1, generic: 0.25 * factor }));
  }
  simulation.calls(1_000, () => ({ auto: 1, generic: 4 }));
  expect(simulation.choice.isGeneric).toBe(false);
});

test('calls that are a little slow bring auto back, even if trials on other connections are fast', () => {
  const simulation = new Simulation();
  simulation.calls(2_000, () => planningCosts);
  const { plan } = simulation.choice.next();
  // Each loses 11.8 ms of the 200.
  for (let call = 0; call < 16; call++) plan!.ended(12, true);
  expect(simulation.choice.isGeneric).toBe(true);
  plan!.ended(12, true);
  expect([simulation.choice.isGeneric, simulation.counts.fallbacks]).toEqual([false, 1]);
});

test('calls that are slow now and then bring auto back, even if trials on other connections are fast', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => ({ auto: 1, generic: 0.25 }));
  expect(simulation.choice.isGeneric).toBe(true);
  // One of three calls is not slow: there are never ten of them in a row.
  simulation.calls(3_000, (index) => ({ auto: 1, generic: 4 + 4 * (index % 3), tried: 0.25 }));
  expect(simulation.counts.fallbacks).toBeGreaterThan(0);
  expect(simulation.count('generic')).toBeLessThan(2_000);
});

test('a plan that becomes the better one is found by later trials', () => {
  const simulation = new Simulation();
  simulation.calls(1_000, () => valueDecides);
  for (let minute = 0; minute < 120; minute++) {
    simulation.now += 60_000;
    simulation.calls(200, () => planningCosts);
  }
  expect(simulation.choice.isGeneric).toBe(true);
});

test('a call that fails or is abandoned in a trial says nothing, and the next trial follows', () => {
  const simulation = new Simulation();
  simulation.calls(67, () => planningCosts);
  const { trial } = simulation.choice.next();
  expect(trial).toMatchObject({ isGeneric: false, limitMs: null });
  // One trial runs at a time.
  for (let index = 0; index < 20; index++) expect(simulation.choice.next().trial).toBeNull();
  trial!.failed();
  simulation.calls(500, () => planningCosts);
  expect(simulation.choice.isGeneric).toBe(true);
});

describe('for all workloads', () => {
  const cost = fc.record({
    auto: fc.double({ min: 0.01, max: 30, noNaN: true }),
    generic: fc.oneof(fc.double({ min: 0.01, max: 30, noNaN: true }), fc.double({ min: 30, max: 30_000, noNaN: true })),
  });
  const workload = fc.record({
    costs: fc.array(cost, { minLength: 1, maxLength: 5 }),
    connections: fc.integer({ min: 1, max: 12 }),
    pauseMs: fc.integer({ min: 0, max: 2_000 }),
  });

  test('at most a quarter of the calls between two decisions are trials, and one slow call ends a generic plan', () => {
    fc.assert(
      fc.property(workload, fc.infiniteStream(fc.nat()), ({ costs, ...options }, indexes) => {
        const simulation = new Simulation(options);
        /** Slow calls with a generic plan after which it stayed, or was chosen at once again. */
        const faults: string[] = [];
        for (let call = 0; call < 2_000; call++) {
          const chosen = costs[(indexes.next().value as number) % costs.length]!;
          const { fallbacks } = simulation.counts;
          const run = simulation.call(chosen);
          const isFallback = simulation.counts.fallbacks > fallbacks;
          if (run === 'generic' && chosen.generic > 300 && !isFallback) faults.push(`no fallback after call ${call}`);
          if (isFallback && simulation.choice.isGeneric) faults.push(`generic after the fallback ${call}`);
        }
        expect(faults).toEqual([]);
        const trials = simulation.runs.filter((run) => run !== 'auto' && run !== 'generic').length;
        expect(trials).toBeLessThanOrEqual(2_000 / 4);
        const { exceeded } = simulation.counts.comparisons;
        expect(simulation.count('cancelled')).toBe(exceeded);
        // Pauses of 1, 2, 4, … seconds.
        const seconds = simulation.now / 1_000;
        expect(exceeded).toBeLessThanOrEqual(2 + Math.log2(seconds + 1) + seconds / 3_600);
      }),
      { numRuns: 150 },
    );
  });

  test('a generic plan that is slower is never chosen, and one that is twice as fast always is', () => {
    const both = fc.record({
      // The difference between arguments is smaller than that between the plans.
      times: fc.array(fc.double({ min: 5, max: 8, noNaN: true }), { minLength: 1, maxLength: 4 }),
      factor: fc.oneof(fc.double({ min: 0.05, max: 0.4, noNaN: true }), fc.double({ min: 1.1, max: 50, noNaN: true })),
      connections: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(both, ({ times, factor, connections }) => {
        const simulation = new Simulation({ connections });
        simulation.calls(1_500, (index) => {
          const auto = times[index % times.length]!;
          return { auto, generic: auto * factor };
        });
        expect([simulation.choice.isGeneric, simulation.count('generic') > 0]).toEqual([factor < 1, factor < 1]);
      }),
      { numRuns: 300 },
    );
  });
});
