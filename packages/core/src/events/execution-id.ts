import { createHash } from 'node:crypto';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { firstClaim, type ClaimTypes } from '../auth/claims.ts';
import type { Caller } from '../ports/ports.ts';

/** The header of a call, and of clients that can set one on the stream. */
const header = 'x-gateway-id';
const longest = 128;

/**
 * The id of a call, whose events its caller wants to see: null where it has none.
 * @throws Problem `invalid-execution-id` for one that others might guess
 */
export function executionIdOfCall(request: GatewayRequest): string | null {
  const id = request.header(header);
  return id === undefined ? null : checked(id);
}

/** @throws Problem `invalid-execution-id` */
export function executionIdOfStream(request: GatewayRequest): string | null {
  return request.query === '' ? executionIdOfCall(request) : checked(request.query);
}

/** At least 128 bits: 22 characters of base64url, 32 of hexadecimal; a UUID will do. */
function checked(id: string): string {
  const needed = /^[0-9a-f]+$/i.test(id) ? 32 : 22;
  if (/^[\w-]+$/.test(id) && id.length >= needed && id.length <= longest) return id;
  throw new Problem('invalid-execution-id', {
    detail: `An execution id has at least 128 random bits, as base64url (22 characters or more), hexadecimal (32 or more) or a UUID, and at most ${longest} characters.`,
  });
}

/** Who somebody is, as far as two requests can be told to be of one and the same. */
export function bindingOf(caller: Caller | null, types: ClaimTypes): string {
  if (caller === null) return 'null';
  const { scheme, claims, session } = caller;
  const user = firstClaim(claims, types.id) ?? firstClaim(claims, types.name);
  return JSON.stringify(user === null ? [scheme, null, session ?? claims] : [scheme, user]);
}

/** What a call and a stream have in common when both have one id and are of one user. Nobody can get the id from it. */
export function executionKey(id: string, caller: Caller | null, types: ClaimTypes): string {
  return digest(`${id}\n${bindingOf(caller, types)}`);
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
