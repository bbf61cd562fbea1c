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

/** Whether the role of the connection may not switch to that of the call. */
export function isSetRoleRefused({ code, message }: Diagnostics): boolean {
  return code === insufficientPrivilege && message.startsWith('permission denied to set role ');
}

/** Returns what lets a connection switch to the role of the call, for developers. */
export function setRoleHint(role: string, sessionUser: string): string {
  const [granted, member] = [role, sessionUser].map((name) => `"${name.replaceAll('"', '""')}"`);
  return `The gateway connects as ${member}, which is not a member of the role of the call: grant ${granted} to ${member}.`;
}

/** Whether row level security refuses to write a row. */
export function isPolicyViolation({ code, routine, message }: Diagnostics): boolean {
  const isOfPolicy = routine === 'ExecWithCheckOptions' || message.includes('violates row-level security policy');
  return code === insufficientPrivilege && isOfPolicy;
}

/**
 * Returns what lets the row be written, for developers. It names no role: row level security refuses rows of ordinary callers, which may be
 * outsiders behind a proxy on the same machine. A message in another language gets the hint for a missing policy.
 */
export function policyHint({ message }: Diagnostics): string {
  // PostgreSQL names restrictive policies only.
  if (/row-level security policy "/.test(message))
    return 'A restrictive policy refuses the row: correct the row or that policy.';
  const needed = message.includes('(USING expression)')
    ? 'the existing row that it would change meets no policy: change another row, or create a policy for update whose USING expression this row meets'
    : 'correct the row, or create a policy for insert or update whose WITH CHECK expression it meets. A row that the statement returns must also meet a policy for select';
  return `No policy lets the role of the call write this row: ${needed}. ${definerNote}`;
}

const definerNote = 'Inside a SECURITY DEFINER function, the role is its owner.';

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
  return `The call runs as the role "${role}": ${remedy}. ${definerNote}`;
}
