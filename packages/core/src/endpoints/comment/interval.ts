const milliseconds: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['sec', 1_000],
  ['second', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['minute', 60_000],
  ['h', 3_600_000],
  ['hour', 3_600_000],
  ['d', 86_400_000],
  ['day', 86_400_000],
]);

const part = /^(\d+(?:\.\d+)?)\s*([a-z]+)\s*/;

/**
 * Parses `10s`, `5 min`, `1h 30m` or `2 days`; a bare number means seconds. Returns milliseconds, or null for an invalid text
 * or an interval above PostgreSQL's maximum timeout (2^31 - 1 ms, about 24 days).
 */
export function parseInterval(text: string): number | null {
  const written = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(written)) return bounded(Number(written) * 1_000);
  let rest = written;
  let total = 0;
  while (rest !== '') {
    const match = part.exec(rest);
    const unit = match?.[2] ?? '';
    const size = milliseconds.get(unit) ?? milliseconds.get(unit.replace(/s$/, ''));
    if (match === null || size === undefined) return null;
    total += Number(match[1]) * size;
    rest = rest.slice(match[0].length);
  }
  return written === '' ? null : bounded(total);
}

function bounded(total: number): number | null {
  const whole = Math.round(total);
  return whole <= 2_147_483_647 ? whole : null;
}
