/** The statements that change policies. One policy can have several findings: each statement keeps the changes of those before. */
import type { Facts, Policy } from './facts.ts';
import type { Finding, PolicyMend } from './finding.ts';

type Conditions = Pick<Policy, 'using' | 'check'>;

/** Adds the statements of policies to the findings that are shown. */
export function withPolicyStatements<Found extends Finding>(
  findings: readonly Found[],
  facts: Facts,
): readonly Found[] {
  const changed = new Map<Policy, Conditions>();
  return findings.map((finding) => {
    const { policyMend } = finding;
    return policyMend === undefined ? finding : { ...finding, statements: statementsOf(policyMend, changed, facts) };
  });
}

/** @param changed the conditions after the statements before, which this one adds to */
function statementsOf(mend: PolicyMend, changed: Map<Policy, Conditions>, facts: Facts): readonly string[] {
  const [first, ...others] = (mend.kind === 'change' ? [mend.policy] : mend.policies) as readonly [Policy, ...Policy[]];
  const conditions =
    mend.kind === 'change'
      ? mapConditions(changed.get(first) ?? first, mend.apply)
      : joinConditions(mend.policies.map((policy) => changed.get(policy) ?? policy));
  changed.set(first, conditions);
  const table = facts.relations.get(first.table)!.sqlName;
  const clauses = [
    ...(conditions.using === first.using ? [] : [` USING (${conditions.using})`]),
    ...(conditions.check === first.check ? [] : [` WITH CHECK (${conditions.check})`]),
  ];
  return [
    ...(clauses.length === 0 ? [] : [`ALTER POLICY ${first.policyName} ON ${table}${clauses.join('')}`]),
    ...others.map(({ policyName }) => `DROP POLICY ${policyName} ON ${table}`),
  ];
}

function mapConditions({ using, check }: Conditions, apply: (condition: string) => string): Conditions {
  return { using: using === null ? null : apply(using), check: check === null ? null : apply(check) };
}

/** A policy without WITH CHECK checks its USING. */
function joinConditions(policies: readonly Conditions[]): Conditions {
  const join = (conditions: readonly (string | null)[]): string | null => {
    const found = [...new Set(conditions.filter((condition) => condition !== null))];
    return found.length === 0 ? null : found.join(' OR ');
  };
  const hasCheck = policies.some(({ check }) => check !== null);
  return {
    using: join(policies.map(({ using }) => using)),
    check: hasCheck ? join(policies.map(({ using, check }) => check ?? using)) : null,
  };
}
