/** Rules about the conditions of policies. */
import { groupBy } from '@pgway/core/internal';
import { bypassesPolicies, type Command, type Facts, type Policy, type Relation } from './facts.ts';
import { type Finding, policyObject, relationObject, type Rule } from './finding.ts';
import { anonymousAlternatives, callsPerRow, isAlwaysTrue } from './expression.ts';

/** The table of a policy. */
function tableOf({ relations }: Facts, { table }: Policy): Relation {
  return relations.get(table)!;
}

/** Returns the finding of a change; `policyStatements` writes its statement. */
function changeFinding(facts: Facts, policy: Policy, reason: string, apply: (condition: string) => string): Finding {
  const object = policyObject(policy, tableOf(facts, policy));
  return { object, reason, statements: [], policyMend: { kind: 'change', policy, apply } };
}

/** A policy for owners that are not subject to policies otherwise restates their rights, as with FORCE ROW LEVEL SECURITY. */
function isForOwners(facts: Facts, policy: Policy): boolean {
  const table = tableOf(facts, policy);
  return policy.roles.every((oid) => {
    const role = facts.roles.get(oid);
    return role !== undefined && bypassesPolicies(role, { ...table, isForced: false });
  });
}

/** Whether a restrictive policy limits the same commands and roles. */
function isRestricted({ policies }: Facts, policy: Policy): boolean {
  return policies.some(
    (other) =>
      other.table === policy.table &&
      !other.isPermissive &&
      policy.commands.every((command) => other.commands.includes(command)) &&
      (other.roles.includes(0) || policy.roles.every((role) => other.roles.includes(role))),
  );
}

const isOpen = (condition: string | null): boolean => condition !== null && isAlwaysTrue(condition);

/** Policies that let all rows be read are usual for public data. */
function findOpenWrites(facts: Facts): readonly Finding[] {
  const writes = facts.policies.filter(({ isPermissive, commands }) => isPermissive && commands.join() !== 'SELECT');
  return writes.flatMap((policy) => {
    const clauses = [...(isOpen(policy.using) ? ['USING'] : []), ...(isOpen(policy.check) ? ['WITH CHECK'] : [])];
    if (clauses.length === 0 || isForOwners(facts, policy) || isRestricted(facts, policy)) return [];
    const commands = policy.commands.length === 4 ? 'every command' : policy.commands.join(', ');
    const reason = `${clauses.join(' and ')} ${clauses.length === 1 ? 'is' : 'are'} always true: ${policy.roleNames.join(', ')} may use ${commands} on any row. Replace false by the condition of the rows that belong to the caller`;
    return [changeFinding(facts, policy, reason, (condition) => (isAlwaysTrue(condition) ? 'false' : condition))];
  });
}

/** The functions of a statement, as the conditions name them. */
function functionsOf({ stableFunctions }: Policy): ReadonlySet<string> {
  return new Set([...stableFunctions, 'current_setting']);
}

/** The conditions that a policy has. */
function conditionsOf({ using, check }: Policy): readonly string[] {
  return [using, check].filter((condition) => condition !== null);
}

function findCallsPerRow(facts: Facts): readonly Finding[] {
  return facts.policies.flatMap((policy) => {
    const functions = functionsOf(policy);
    const calls = new Set(conditionsOf(policy).flatMap((condition) => callsPerRow(condition, functions).calls));
    if (calls.size === 0) return [];
    const reason = `${[...calls].join(', ')} is called for each row; in a sub-select, it is called once for a statement`;
    return [changeFinding(facts, policy, reason, (condition) => callsPerRow(condition, functions).mended)];
  });
}

function findAnonymousAccess(facts: Facts): readonly Finding[] {
  return facts.policies.flatMap((policy) => {
    const functions = functionsOf(policy);
    const [found] = conditionsOf(policy).flatMap((text) => anonymousAlternatives(text, functions)?.found ?? []);
    if (found === undefined || !policy.isPermissive) return [];
    const reason = `the alternative ${found} gives callers without an identity all rows`;
    return [
      changeFinding(
        facts,
        policy,
        reason,
        (condition) => anonymousAlternatives(condition, functions)?.rest ?? condition,
      ),
    ];
  });
}

function findUserMetadata(facts: Facts): readonly Finding[] {
  const found = facts.policies.filter((policy) => conditionsOf(policy).some((text) => text.includes('user_metadata')));
  return found.map((policy) => {
    const reason = 'the condition uses user_metadata, which users of Supabase can change themselves';
    return changeFinding(facts, policy, reason, (text) => text.replaceAll('user_metadata', 'app_metadata'));
  });
}

/** Policies that apply to one role and command: PostgreSQL evaluates all of them for each row. */
function findSeveralPolicies(facts: Facts): readonly Finding[] {
  const permissive = facts.policies.filter(({ isPermissive }) => isPermissive);
  return [...groupBy(permissive, ({ table }) => table).values()].flatMap((policies) => {
    const clashes = new Map<string, { readonly policies: readonly Policy[]; readonly commands: Command[] }>();
    for (const command of ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const) {
      for (const joint of jointPolicies(policies, command)) {
        const key = joint.map(({ name }) => name).join('\0');
        const known = clashes.get(key);
        if (known === undefined) clashes.set(key, { policies: joint, commands: [command] });
        else known.commands.push(command);
      }
    }
    return [...clashes.values()].map(({ policies: joint, commands }) => severalFinding(facts, joint, commands));
  });
}

/** Returns the sets of policies that apply to a role together. */
function jointPolicies(policies: readonly Policy[], command: Command): readonly (readonly Policy[])[] {
  const own = policies.filter(({ commands }) => commands.includes(command));
  const roles = new Set(own.flatMap((policy) => policy.roles));
  const sets = [...roles].map((role) =>
    own.filter((policy) => policy.roles.includes(0) || policy.roles.includes(role)),
  );
  return sets.filter(({ length }) => length > 1);
}

function severalFinding(facts: Facts, policies: readonly Policy[], commands: readonly Command[]): Finding {
  const [first, ...others] = policies as readonly [Policy, ...Policy[]];
  const table = tableOf(facts, first);
  const names = policies.map(({ policyName }) => policyName).join(', ');
  const isEqual = others.every(
    (policy) =>
      policy.commands.join() === first.commands.join() &&
      policy.roles.length === first.roles.length &&
      policy.roles.every((role) => first.roles.includes(role)),
  );
  const advice = isEqual ? '' : '. Write one policy for each command and role';
  return {
    object: relationObject(table),
    reason: `${policies.length} permissive policies are evaluated for one role, for each row of ${commands.join(', ')}: ${names}${advice}`,
    statements: [],
    ...(isEqual ? { policyMend: { kind: 'join', policies } } : {}),
  };
}

export const policyRules: readonly Rule[] = [
  {
    code: 'policy-always-true',
    summary: 'a policy for writes, or for all commands, is true for each row',
    find: findOpenWrites,
  },
  {
    code: 'policy-without-identity',
    summary: 'a policy is true for callers without an identity, as by `auth.uid() IS NULL OR …`',
    find: findAnonymousAccess,
  },
  {
    code: 'policy-user-metadata',
    summary: 'a policy uses `user_metadata`, which users of Supabase can change',
    find: findUserMetadata,
  },
  {
    code: 'policy-per-row',
    summary: 'a policy calls a stable function, such as `current_setting` or `auth.uid()`, for each row',
    find: findCallsPerRow,
  },
  {
    code: 'several-policies',
    summary: 'several permissive policies apply to one role and command',
    find: findSeveralPolicies,
  },
];
