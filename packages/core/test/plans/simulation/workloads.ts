import type { CallCost } from './server-session.ts';
import type { Workload } from './simulate.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

interface Cost extends Partial<Omit<CallCost, 'genericMs'>> {
  readonly genericMs?: number | CallCost['genericMs'];
}

/** Planning takes longer than running, and PostgreSQL does not see that. */
const planned: CallCost = {
  planMs: 0.2,
  customMs: 0.05,
  genericMs: () => 0.05,
  waitMs: 0,
  customEstimate: 10,
  genericEstimate: 1_000,
};

function cost({ genericMs = planned.genericMs, ...costs }: Cost): CallCost {
  return { ...planned, ...costs, genericMs: typeof genericMs === 'number' ? () => genericMs : genericMs };
}

interface Options extends Partial<Omit<Workload, 'name' | 'cost' | 'sentAt'>> {
  readonly everyMs?: number;
  readonly sentAt?: Workload['sentAt'];
}

function workload(
  name: string,
  costOf: Cost | ((call: Parameters<Workload['cost']>[0]) => Cost),
  { everyMs = 2, sentAt = (index) => index * everyMs, ...options }: Options = {},
): Workload {
  return {
    name,
    calls: 30_000,
    connections: 10,
    analyzedAt: [],
    sessionCalls: Number.POSITIVE_INFINITY,
    relations: 1,
    lossMs: 0,
    leastGeneric: 0,
    sentAt,
    cost: typeof costOf === 'function' ? (call) => cost(costOf(call)) : () => cost(costOf),
    ...options,
  };
}

/** A value decides the plan: a scan of the whole table with a generic plan, an index with a custom one. */
function scan(genericMs: number): Cost {
  return { planMs: 0.15, customMs: 0.05, genericMs };
}

/** A number with a heavy tail (Pareto): most are near 1, the mean is 3. */
function heavyTail(random: () => number): number {
  return (1 - random()) ** (-1 / 1.5);
}

function linear(from: number, to: number, share: number): number {
  return from + (to - from) * share;
}

const calls = 30_000;

/** The plan costs the same for all calls. */
const steady: readonly Workload[] = [
  workload('a limit, as in items(_limit)', {}),
  workload('a join of eight tables', { planMs: 3, customMs: 0.3, genericMs: 0.3 }, { relations: 8, everyMs: 4 }),
  workload('a view of thirty tables', { planMs: 12, customMs: 1, genericMs: 1 }, { relations: 30, everyMs: 10 }),
  workload('planning is a tenth of the call', { planMs: 0.05, customMs: 0.5, genericMs: 0.5 }),
  workload('both plans take the same time', { planMs: 0.05, customMs: 0.5, genericMs: 0.55 }),
  workload('the generic plan is 10 % slower', { planMs: 0.1, customMs: 1, genericMs: 1.21 }),
  workload('the generic plan is 40 % slower', { planMs: 0.1, customMs: 1, genericMs: 1.54 }),
  workload('auto selects the generic plan', { genericEstimate: 5 }),
  workload('auto selects a generic plan that is slow', {
    planMs: 0.2,
    customMs: 0.1,
    genericMs: 2,
    genericEstimate: 5,
  }),
  workload('200 partitions, pruned by the values', { planMs: 0.4, customMs: 0.1, genericMs: 6 }),
  workload(
    'calls of 20 ms, on connections that are busy',
    { planMs: 20, customMs: 20, genericMs: 20 },
    { everyMs: 5, leastGeneric: 20_000 },
  ),
  workload('long calls', { planMs: 1, customMs: 80, genericMs: 80 }, { everyMs: 20, calls: 5_000 }),
  workload(
    'long calls with a generic plan of 30 s',
    { planMs: 1, customMs: 40, genericMs: 30_000 },
    { everyMs: 20, calls: 5_000 },
  ),
];

/** The values of a call decide. */
const skew: readonly Workload[] = [
  workload('an optional filter', scan(25)),
  workload('an optional filter of a large table', scan(4_000)),
  workload('a slow value among 10', ({ random }) => (random() < 0.1 ? scan(25) : {})),
  workload('a slow value among 100', ({ random }) => (random() < 0.01 ? scan(25) : {})),
  // Two calls, and one.
  workload('a slow value among 1,000', ({ random }) => (random() < 0.001 ? scan(500) : {}), { lossMs: 1_000 }),
  workload('a slow value among 10,000', ({ random }) => (random() < 0.0001 ? scan(4_000) : {}), { lossMs: 4_000 }),
  workload('a common value for which a scan is better', ({ random }) =>
    random() < 0.3 ? { planMs: 0.2, customMs: 4, genericMs: 9 } : { planMs: 0.2, customMs: 0.1, genericMs: 0.1 },
  ),
  workload('half of the calls twice as slow, half four times as fast', ({ random }) =>
    random() < 0.5 ? { planMs: 0.5, customMs: 0.5, genericMs: 2 } : { planMs: 0.5, customMs: 0.5, genericMs: 0.25 },
  ),
  workload('a heavy tail, with both plans', ({ random }) => {
    const ms = 0.1 * heavyTail(random);
    return { planMs: 0.3, customMs: ms, genericMs: ms };
  }),
  workload('a heavy tail with a generic plan', ({ random }) => ({ genericMs: 0.1 * heavyTail(random) ** 2 })),
];

/** The data changes while it is served. */
const growth: readonly Workload[] = [
  workload('a table that grows, which both plans read', ({ index }) => {
    const ms = linear(0.05, 1.6, index / calls);
    return { customMs: ms, genericMs: ms };
  }),
  workload('a table that grows, which the generic plan reads', ({ index }) => ({
    genericMs: linear(0.05, 5, index / calls),
  })),
  workload('a table that grows by 1 % in every 100 calls', ({ index }) => ({
    genericMs: 0.05 * 1.01 ** (index / 100),
  })),
  workload(
    'a bulk load, after which plans are old until ANALYZE',
    ({ index }) => ({ genericMs: (plannedAt) => (index >= 10_000 && plannedAt < 10_000 ? 15 : 0.05) }),
    { analyzedAt: [20_000] },
  ),
  workload(
    'a bulk load of a thousand times the rows',
    ({ index }) => ({ genericMs: (plannedAt) => (index >= 10_000 && plannedAt < 10_000 ? 150 : 0.05) }),
    { analyzedAt: [20_000] },
  ),
  workload('three times as slow, with a generic plan that is old', ({ index }) => ({
    genericMs: (plannedAt) => (index >= 10_000 && plannedAt < 10_000 ? 0.6 : 0.05),
  })),
  workload('an index that is dropped', ({ index }) => ({
    customMs: index < 10_000 ? 0.05 : 8,
    genericMs: index < 10_000 ? 0.05 : 8,
  })),
  workload('a generic plan that becomes slow', ({ index }) => ({ genericMs: index < 10_000 ? 0.05 : 2.5 })),
  workload(
    'a table that shrinks, and later a generic plan that is slow',
    ({ index }) => {
      if (index < 2_000) return { planMs: 5, customMs: 20, genericMs: 18 };
      return { genericMs: index < 8_750 ? 0.05 : 15 };
    },
    { everyMs: 4 },
  ),
  workload('a generic plan that becomes fast', ({ index }) => ({ genericMs: index < 10_000 ? 25 : 0.05 })),
  workload('ANALYZE after every 500 calls', {}, { analyzedAt: Array.from({ length: 59 }, (_, i) => 500 * (i + 1)) }),
];

const expensive = scan(12);

/** The arguments alternate. */
const alternation: readonly Workload[] = [
  workload('every second call', ({ index }) => (index % 2 === 0 ? {} : expensive)),
  workload('every eighth call, as often as trials of one mode', ({ index }) => (index % 8 === 3 ? scan(2) : {})),
  workload('four calls of each kind', ({ index }) => (index % 8 < 4 ? {} : scan(2))),
  workload('four calls of each kind, the other way round', ({ index }) => (index % 8 >= 4 ? {} : scan(2))),
  workload('500 calls of each kind', ({ index }) => (index % 1_000 < 500 ? {} : expensive), { lossMs: 100 }),
  workload('5,000 calls of each kind', ({ index }) => (index % 10_000 < 5_000 ? {} : expensive)),
  // An attacker who knows the plan of each call: generic plans lose 100 ms, and with them what runs at that moment, before each pause.
  workload('cheap in trials, slow by little afterwards', ({ plan }) => (plan === 'generic' ? scan(1) : {}), {
    lossMs: 100,
  }),
  workload('cheap in trials, 12 ms afterwards', ({ plan }) => (plan === 'generic' ? expensive : {}), { lossMs: 300 }),
  workload('cheap in trials, 4 s afterwards', ({ plan }) => (plan === 'generic' ? scan(4_000) : {}), {
    everyMs: 100,
    lossMs: 8 * 4_000,
  }),
];

/** What delays a call with any plan. */
const waits: readonly Workload[] = [
  workload('a lock wait of 500 ms among 1,000 calls', ({ random }) => ({ waitMs: random() < 0.001 ? 500 : 0 })),
  workload('a lock wait of 100 ms among 50 calls', ({ random }) => ({ waitMs: random() < 0.02 ? 100 : 0 })),
  workload('a lock wait of 30 s among 10,000 calls', ({ random }) => ({ waitMs: random() < 0.0001 ? 30_000 : 0 })),
  workload('a table that is locked for 2 s in every 20 s', ({ now }) => ({
    waitMs: now % (20 * second) >= 18 * second ? 20 * second - (now % (20 * second)) : 0,
  })),
  // In the middle of four hours: generic plans have to come back after an hour at most.
  workload(
    'a table that is locked for 20 s, with 64 calls at once',
    ({ now }) => ({ waitMs: now >= 2 * hour ? Math.max(0, 2 * hour + 20 * second - now) : 0 }),
    { sentAt: (index) => Math.floor(index / 64) * (minute / 2), connections: 64, leastGeneric: 12_000 },
  ),
  workload('a lock wait of 2 s, and later a generic plan that is slow', ({ index }) => ({
    waitMs: index === 30 ? 2_000 : 0,
    genericMs: index < 10_000 ? 0.05 : 8,
  })),
  workload('a machine that delays one of 100 calls by 20 ms', ({ random }) => ({
    waitMs: random() < 0.01 ? 20 + 20 * random() : 0,
  })),
  workload('a backup that makes all calls slow for a while', ({ index }) => ({
    waitMs: index % 10_000 >= 8_000 ? 1 : 0,
  })),
  workload('a cache that is cold at the start', ({ index, random }) => ({ waitMs: index < 500 ? 8 * random() : 0 })),
  workload('a cache that is cold again and again', ({ index, random }) => ({
    waitMs: index % 5_000 < 200 ? 8 * random() : 0,
  })),
];

/** Connections and the rate of calls. */
const connections: readonly Workload[] = [
  workload('64 connections', {}, { connections: 64 }),
  workload('one connection', {}, { connections: 1 }),
  workload('sessions that end after 50 calls', {}, { sessionCalls: 50 }),
  workload('a call in every ten seconds', { planMs: 2 }, { everyMs: 10 * second, calls: 8_640 }),
  workload(
    '2,000 calls in every hour',
    { planMs: 2 },
    { sentAt: (index) => Math.floor(index / 2_000) * hour + (index % 2_000) },
  ),
  // A trial of 10 ms in each hour.
  workload('an optional filter, in a day', scan(25), { everyMs: minute / 20, calls: 28_800, lossMs: 100 }),
];

export const workloads: readonly Workload[] = [...steady, ...skew, ...growth, ...alternation, ...waits, ...connections];
