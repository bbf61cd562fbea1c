import type { Diagnostics } from '../postgres/port.ts';

/** SQLSTATE insufficient_privilege. */
const insufficientPrivilege = '42501';

/** What the privilege on an object is called in GRANT, by the word of PostgreSQL's message. */
const privileges: Readonly<Record<string, string>> = {
  schema: 'usage on schema',
  function: 'execute on function',
  procedure: 'execute on procedure',
  routine: 'execute on routine',
  sequence: 'usage on sequence',
  table: 'select, insert, update or delete on table',
  view: 'select on table',
  'materialized view': 'select on table',
  'foreign table': 'select, insert, update or delete on table',
  type: 'usage on type',
  domain: 'usage on domain',
  language: 'usage on language',
  'foreign server': 'usage on foreign server',
  'large object': 'select or update on large object',
};

/** Whether a role lacks a privilege, as `GRANT` gives them. Row level security, and what only owners may do, have no GRANT. */
export function isMissingPrivilege({ code, routine, message }: Diagnostics): boolean {
  return code === insufficientPrivilege && (routine === 'aclcheck_error' || grantOf(message) !== null);
}

/** Whether no policy lets the role write a row: row level security. */
export function isPolicyViolation({ code, routine, message }: Diagnostics): boolean {
  const isOfPolicy = routine === 'ExecWithCheckOptions' || message.includes('row-level security policy');
  return code === insufficientPrivilege && isOfPolicy;
}

/** Returns what lets the role write the row, for developers. */
export function policyHint(role: string): string {
  return `The call runs as the role "${role}", and no policy lets it write this row: correct the row, or create a policy with a check that it meets, as in "create policy … for insert to … with check (…)".`;
}

/** Returns the privilege that the message is about, as a GRANT names it; null for a message in another language. */
function grantOf(message: string): string | null {
  const [, object, name] =
    /^permission denied for ([a-z]+(?: (?:view|table|server|object))?) (.+)$/s.exec(message) ?? [];
  const privilege = privileges[object ?? ''];
  return privilege === undefined ? null : `${privilege} ${name!}`;
}

/**
 * Returns which role lacks which privilege, for developers.
 * @param role the role of the call, as `current_user` has it
 */
export function privilegeHint({ message }: Diagnostics, role: string): string {
  const grant = grantOf(message);
  const remedy = grant === null ? 'grant it the privilege' : `grant ${grant} to "${role.replaceAll('"', '""')}"`;
  return `The call runs as the role "${role}": ${remedy}. Inside a SECURITY DEFINER function, the role is its owner.`;
}
