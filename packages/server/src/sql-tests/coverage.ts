import type { Endpoint } from '@pgway/core';
import type { Policy, PolicyProbe } from './policy-probe.ts';

/** What the tests of a run have not reached. */
export interface Coverage {
  readonly endpoints: number;
  /** Those that no test has called. */
  readonly missedEndpoints: readonly Endpoint[];
  readonly policies: number;
  /** Those whose conditions no request has evaluated. */
  readonly missedPolicies: readonly Policy[];
  /** Those of tables that the connection does not own. */
  readonly unmeasuredPolicies: readonly Policy[];
}

/** @param reached the ids of the endpoints that tests have called */
export function findCoverage(
  endpoints: readonly Endpoint[],
  reached: ReadonlySet<string>,
  probe: PolicyProbe,
): Coverage {
  const { policies } = probe;
  return {
    endpoints: endpoints.length,
    missedEndpoints: endpoints.filter((endpoint) => !reached.has(endpointKey(endpoint))),
    policies: policies.length,
    missedPolicies: policies.filter((policy) => policy.isMeasurable && !probe.isReached(policy)),
    unmeasuredPolicies: policies.filter(({ isMeasurable }) => !isMeasurable),
  };
}

/** A routine may have several endpoints. */
export function endpointKey({ method, path, id }: Endpoint): string {
  return `${method} ${path} ${id}`;
}

export function isComplete({ missedEndpoints, missedPolicies, unmeasuredPolicies }: Coverage): boolean {
  return missedEndpoints.length + missedPolicies.length + unmeasuredPolicies.length === 0;
}

/** Returns the report; the texts are those of the catalog, unescaped. */
export function coverageLines(coverage: Coverage): readonly string[] {
  const { endpoints, missedEndpoints, policies, missedPolicies, unmeasuredPolicies } = coverage;
  const called = endpoints - missedEndpoints.length;
  const evaluated = policies - missedPolicies.length - unmeasuredPolicies.length;
  return [
    ...section(
      'Endpoints that no test has called:',
      missedEndpoints.map(({ method, path, id }) => `${method} ${path} (${id})`),
    ),
    ...section('Policies that no request of a test has evaluated:', missedPolicies.map(describe)),
    ...section(
      'Policies that cannot be measured, because the role of the connection does not own their tables:',
      unmeasuredPolicies.map(describe),
    ),
    `coverage: ${called} of ${endpoints} endpoints, ${evaluated} of ${policies} policies`,
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function describe({ table, name, scope }: Policy): string {
  return `${table}: ${name} (${scope})`;
}
