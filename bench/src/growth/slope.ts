type Points = readonly (readonly [size: number, cost: number])[];

/** Returns the slope with two decimals; `-` without one. */
export function formatSlope(points: Points): string {
  return logLogSlope(points)?.toFixed(2) ?? '-';
}

/**
 * Returns the slope of the line through the logarithms of sizes and costs (least squares): 0 where the cost is constant, 1 where it is
 * proportional to the size; null for fewer than two sizes. A cost of 0 counts as the smallest one above it.
 */
export function logLogSlope(points: Points): number | null {
  if (new Set(points.map(([size]) => size)).size < 2) return null;
  if (points.every(([, cost]) => cost === 0)) return 0;
  const least = Math.min(...points.map(([, cost]) => cost).filter((cost) => cost > 0));
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(Math.max(cost, least))] as const);
  const mean = (index: 0 | 1): number => logs.reduce((sum, point) => sum + point[index], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const [covariance, variance] = logs.reduce(
    ([both, own], point) => [both + (point[0] - x) * (point[1] - y), own + (point[0] - x) ** 2],
    [0, 0],
  );
  return covariance / variance;
}
