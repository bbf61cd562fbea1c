import { createHash } from 'node:crypto';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import { callerIdentity, hasUser } from '../auth/identity.ts';
import type { Caller } from '../ports/ports.ts';

/** The request header of calls, and of streams whose client can set headers. */
const header = 'x-gateway-id';
const maxLength = 128;

/**
 * Returns the execution id of a call, which connects it with the event stream of its caller; null without one.
 * @throws Problem `invalid-execution-id` for an id that is easy to guess
 */
export function readExecutionId(request: GatewayRequest): string | null {
  const id = request.header(header);
  return id === undefined ? null : checkExecutionId(id);
}

/**
 * Reads the query string of a stream's URL, else the header.
 * @throws Problem `invalid-execution-id`
 */
export function readStreamExecutionId(request: GatewayRequest): string | null {
  return request.query === '' ? readExecutionId(request) : checkExecutionId(request.query);
}

/** 128 bits are 22 characters of base64url or 32 of hexadecimal. A UUID is accepted too. */
function checkExecutionId(id: string): string {
  const minLength = /^[0-9a-f]+$/i.test(id) ? 32 : 22;
  if (/^[\w-]+$/.test(id) && id.length >= minLength && id.length <= maxLength) return id;
  throw new Problem('invalid-execution-id', {
    detail: `An execution id has at least 128 random bits, as base64url (22 characters or more), hexadecimal (32 or more) or a UUID, and at most ${maxLength} characters.`,
  });
}

/** Returns a text that is equal for two requests of the same user. Without a user claim, the session or all claims identify the caller. */
export function toIdentityKey(caller: Caller | null, types: ClaimTypes): string {
  if (caller === null) return 'null';
  const { scheme, session } = caller;
  const identity = session === null || hasUser(caller, types) ? callerIdentity(caller, types) : `session ${session}`;
  return JSON.stringify([scheme, identity]);
}

/** Returns a key that a call and a stream share if they have the same execution id and user. It does not reveal the id. */
export function toExecutionKey(id: string, caller: Caller | null, types: ClaimTypes): string {
  return sha256(`${id}\n${toIdentityKey(caller, types)}`);
}

/** Returns the hash in base64url. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
