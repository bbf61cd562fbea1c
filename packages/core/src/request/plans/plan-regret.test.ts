/**
 * The promise of measured plans for each simulated workload: all calls together take at most 5 % longer than with `auto`. The rare exceptions
 * have a bound of their own. `PGWAY_TEST_TABLE=1` prints the times.
 */
import { expect, test } from 'vitest';
import { simulate, type Strategy } from '../../../test/plans/simulation/simulate.ts';
import { workloads } from '../../../test/plans/simulation/workloads.ts';

const seeds = [1, 2, 3];
/** The share by which all calls, trials included, may take longer than with `auto`. */
const allowedShare = 0.05;

const results = seeds.flatMap((seed) =>
  workloads.map((workload) => {
    const spent = (strategy: Strategy): number => simulate(workload, strategy, seed).spentMs;
    const auto = spent('auto');
    return { workload, seed, auto, spent, measured: simulate(workload, 'measured', seed) };
  }),
);
/** With the best mode of each workload. The first seed is enough for these. */
const compared = results
  .filter(({ seed }) => seed === seeds[0])
  .map(({ spent, ...result }) => {
    const best = Math.min(result.auto, spent('force_custom_plan'), spent('force_generic_plan'));
    return { ...result, best };
  });

if (process.env.PGWAY_TEST_TABLE === '1') {
  const rows = compared.map(({ workload, auto, best, measured }) => [
    workload.name,
    ...[auto, best, measured.spentMs].map((ms) => (ms / 1_000).toFixed(2)),
    `${(100 * (measured.spentMs / auto - 1)).toFixed(1)} %`,
    ...[measured.trials, measured.cancelled, measured.fallbacks, measured.generic].map(String),
  ]);
  const head = [
    'workload',
    'auto s',
    'best mode s',
    'measured s',
    'to auto',
    'trials',
    'cancelled',
    'back to auto',
    'generic',
  ];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

test('there are at least 50 workloads, each with its own name', () => {
  expect(workloads.length).toBeGreaterThanOrEqual(50);
  expect(new Set(workloads.map(({ name }) => name)).size).toBe(workloads.length);
});

test.each(results)(
  '$workload.name, seed $seed: at most 5 % more time than with auto',
  ({ workload, auto, measured }) => {
    expect(measured.spentMs).toBeLessThanOrEqual(auto * (1 + allowedShare) + workload.lossMs);
    expect(measured.generic).toBeGreaterThanOrEqual(workload.leastGeneric);
  },
);

test('the best mode takes little less time than the measured one, over all workloads', () => {
  const logarithms = compared.map(({ best, measured }) => Math.log(measured.spentMs / best));
  const mean = Math.exp(logarithms.reduce((sum, value) => sum + value, 0) / logarithms.length);
  expect(mean).toBeLessThan(1.25);
  // With `auto` for all calls it is 1.78.
  const ofAuto = compared.reduce((sum, { auto, best }) => sum + Math.log(auto / best), 0) / compared.length;
  expect(Math.exp(ofAuto)).toBeGreaterThan(1.5);
});

test('the same calls have the same times', () => {
  const again = simulate(workloads[0]!, 'measured', seeds[0]!);
  expect(again).toEqual(results[0]!.measured);
});
