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

/** Returns a line per guarantee and route, examples of the violations, and counts in the format of the test runner. */
export function writeVerdict(results: readonly SoakResult[], skipped: readonly DatabaseRoute[]): string {
  const names = Object.keys(guarantees) as GuaranteeName[];
  const checks = results.flatMap((result) => names.map((name) => ({ result, name })));
  const lines = checks.map(({ result: { route, violations }, name }) => {
    const title = `soak > ${route} > ${guarantees[name]}`;
    const times = violations.count(name);
    if (times === 0) return ` ✓ ${title}`;
    const examples = violations.examples(name).map((example) => `   ${example}`);
    return [` FAIL  ${title}`, `   ${times} times, such as`, ...examples].join('\n');
  });
  const failed = checks.filter(({ result, name }) => result.violations.count(name) > 0).length;
  const counts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${checks.length - failed} passed`,
    ...(skipped.length > 0 ? [`${skipped.length * names.length} skipped`] : []),
  ];
  const errors = results.flatMap(({ route, errors: causes }) => causes.map((text) => `${route}: ${text}`));
  return [
    ...lines,
    ...(errors.length === 0 ? [] : ['', 'unexpected failures inside the gateway:', ...errors]),
    '',
    `      Tests  ${counts.join(' | ')} (${checks.length + skipped.length * names.length})`,
  ].join('\n');
}
