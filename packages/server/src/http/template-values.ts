/** The values of placeholders in HTML templates. */
import type { Caller, Gateway } from '@pgway/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from '../config/schema.ts';
import type { Template } from './html-template.ts';

type ClaimNames = Pick<
  Configuration['authentication'],
  'defaultUserIdClaimType' | 'defaultNameClaimType' | 'defaultRoleClaimType'
>;

/** Returns the value of a placeholder; empty for an unknown one, and without a caller. */
export type ValueOf = (name: string) => string;

interface TemplateRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller | null;
}

/** Also sends the cookie of an antiforgery token that the template has. */
export async function templateValues(
  { names }: Template,
  { request, reply, caller }: TemplateRequest,
  gateway: Gateway,
  claimNames: ClaimNames,
): Promise<ValueOf> {
  if (caller === null) return () => '';
  const values = new Map<string, string>();
  const claim = (name: string): string =>
    caller.claims.flatMap(([key, value]) => (key === name ? [value] : [])).join(', ');
  values.set('user_id', claim(claimNames.defaultUserIdClaimType));
  values.set('user_name', claim(claimNames.defaultNameClaimType));
  values.set('user_roles', claim(claimNames.defaultRoleClaimType));
  if (names.includes('antiforgery')) {
    const issued = await gateway.antiforgeryToken(request.raw, caller);
    values.set('antiforgery', issued?.token ?? '');
    for (const [name, value] of issued?.headers ?? []) reply.header(name, value);
  }
  const prefix = 'claims.';
  return (name) => (name.startsWith(prefix) ? claim(name.slice(prefix.length)) : (values.get(name) ?? ''));
}
