import type { DatabaseRoute } from './options.ts';
import { type GuaranteeName, guarantees } from './guarantees.ts';
import type { SoakResult } from './run-route.ts';

/** Returns the table of operations of a route. */
export function writeTable({ route, statistics, faults, acknowledged, seconds, memory }: SoakResult): string {
  const rows = [...statistics.operations].toSorted(([a], [b]) => a.localeCompare(b));
  const lines = rows.map(([name, { calls, answered, notSent, unknown, cut, failed, disconnected }]) =>
    [
      name.padEnd(40),
      ...[calls, answered, notSent, unknown, cut, failed, disconnected].map((n) => String(n).padStart(9)),
    ].join(''),
  );
  const heading = ['calls', 'answered', 'not sent', 'unknown', 'cut', 'failed', 'disconn.']
    .map((name) => name.padStart(9))
    .join('');
  const rate = Math.round(statistics.requests / seconds);
  return [
    `${route.padEnd(40)}${heading}`,
    ...lines,
    `${statistics.requests} requests in ${seconds.toFixed(0)} s (${rate}/s), ${faults.killed} backends killed, ${faults.lost} connections lost, ${acknowledged} writes acknowledged`,
    `memory of the gateway: ${memory}`,
  ].join('\n');
}

/** One guarantee on one route. */
export interface RouteCheck {
  readonly title: string;
  /** How often it was violated. */
  readonly times: number;
  readonly examples: readonly string[];
}

/** Returns the guarantees of the load on a route. */
export function checkGuarantees({ route, violations }: SoakResult): readonly RouteCheck[] {
  const names = Object.keys(guarantees) as GuaranteeName[];
  return names.map((name) => ({
    title: `soak > ${route} > ${guarantees[name]}`,
    times: violations.count(name),
    examples: violations.examples(name),
  }));
}

/** Returns a line per check, examples of the violations, and counts in the format of the test runner. */
export function writeVerdict(
  checks: readonly RouteCheck[],
  results: readonly SoakResult[],
  skipped: readonly DatabaseRoute[],
): string {
  const lines = checks.map(({ title, times, examples }) => {
    if (times === 0) return ` ✓ ${title}`;
    return [` FAIL  ${title}`, `   ${times} times, such as`, ...examples.map((example) => `   ${example}`)].join('\n');
  });
  const failed = checks.filter(({ times }) => times > 0).length;
  const skippedChecks = skipped.length * Object.keys(guarantees).length;
  const counts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${checks.length - failed} passed`,
    ...(skippedChecks > 0 ? [`${skippedChecks} skipped`] : []),
  ];
  const errors = results.flatMap(({ route, errors: causes }) => causes.map((text) => `${route}: ${text}`));
  return [
    ...lines,
    ...(errors.length === 0 ? [] : ['', 'unexpected failures inside the gateway:', ...errors]),
    '',
    `      Tests  ${counts.join(' | ')} (${checks.length + skippedChecks})`,
  ].join('\n');
}
