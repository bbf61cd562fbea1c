import { arrayLiteral } from '../postgres/literal.ts';
import type { Value } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { EndpointParameter, InjectedValue } from '../endpoints/endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import { firstClaim, type ClaimTypes, claimsAsJson, callerRoles } from './claims.ts';

/** The request of a call, and its caller. */
export interface CallContext {
  readonly request: GatewayRequest;
  readonly caller: Caller | null;
}

/** Returns the value that the gateway injects into a parameter; NULL for an unknown value. */
export function resolveInjectedValue(
  { type, injectedValue }: EndpointParameter,
  calling: CallContext,
  types: ClaimTypes,
): Value {
  const { caller } = calling;
  if (injectedValue === 'userRoles') {
    if (caller === null) return null;
    const roles = callerRoles(caller, types);
    return type.element === undefined ? JSON.stringify(roles) : arrayLiteral(roles);
  }
  // A query is part of the statement of the call.
  const text = injectedValue === 'query' ? null : textOf(injectedValue!, calling, types);
  // Claims are JSON already; other text becomes a JSON string for a json parameter.
  return text !== null && type.json === 'json' && injectedValue !== 'userClaims' ? JSON.stringify(text) : text;
}

function textOf(
  filling: Exclude<InjectedValue, 'userRoles' | 'query'>,
  { request, caller }: CallContext,
  types: ClaimTypes,
): string | null {
  switch (filling) {
    case 'ipAddress':
      return request.remoteAddress ?? null;
    case 'userId':
      return caller === null ? null : firstClaim(caller.claims, types.id);
    case 'userName':
      return caller === null ? null : firstClaim(caller.claims, types.name);
    case 'userClaims':
      return caller === null ? null : claimsAsJson(caller, types);
  }
}
