import type { PlanCounts } from './plan-choice.ts';

/** The plans of an endpoint that were chosen by measurement. */
export interface EndpointPlans {
  readonly method: string;
  readonly path: string;
  /** The statements with each plan. An endpoint has one for each set of parameters that requests give, and for each database. */
  readonly auto: number;
  readonly generic: number;
}

/** The choice of plans by measurement. */
export interface PlanStatistics {
  /** The endpoints that were called since they were loaded. */
  readonly endpoints: readonly EndpointPlans[];
  /** Comparisons by their result, since the start. `exceeded`: a trial was cancelled at its limit. */
  readonly comparisons: Readonly<PlanCounts['comparisons']>;
  /** Changes back to `auto`, because calls with a generic plan took longer, since the start. */
  readonly fallbacks: number;
}

export const noPlanStatistics: PlanStatistics = Object.freeze({
  endpoints: [],
  comparisons: { auto: 0, generic: 0, undecided: 0, exceeded: 0 },
  fallbacks: 0,
});

/** Returns the sum for several databases. */
export function addPlanStatistics(left: PlanStatistics, right: PlanStatistics): PlanStatistics {
  const { auto, generic, undecided, exceeded } = right.comparisons;
  return {
    endpoints: mergeEndpoints([...left.endpoints, ...right.endpoints]),
    comparisons: {
      auto: left.comparisons.auto + auto,
      generic: left.comparisons.generic + generic,
      undecided: left.comparisons.undecided + undecided,
      exceeded: left.comparisons.exceeded + exceeded,
    },
    fallbacks: left.fallbacks + right.fallbacks,
  };
}

/** Adds up the statements of the same endpoint. */
export function mergeEndpoints(all: readonly EndpointPlans[]): readonly EndpointPlans[] {
  const merged = new Map<string, EndpointPlans>();
  for (const { method, path, auto, generic } of all) {
    const key = `${method} ${path}`;
    const sum = merged.get(key) ?? { method, path, auto: 0, generic: 0 };
    merged.set(key, { method, path, auto: sum.auto + auto, generic: sum.generic + generic });
  }
  return [...merged.values()];
}
