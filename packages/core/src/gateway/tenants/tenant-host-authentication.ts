import type { GatewayRequest } from '../../http/request.ts';
import type { Observer } from '../../ports/ports.ts';
import type { ResolveClientOrigin } from '../client-origin.ts';
import {
  type HostAuthentication,
  hostAuthentication,
  type HostRequest,
  toGatewayRequest,
} from '../host-authentication.ts';
import type { Tenants } from './tenants.ts';

/** Returns the authentication for the host's own routes: each request is one to its tenant. */
export function tenantHostAuthentication(
  tenants: Tenants,
  resolveClient: ResolveClientOrigin,
  observe: Observer,
): HostAuthentication {
  const use = <Result>(
    request: HostRequest,
    act: (authentication: HostAuthentication, request: GatewayRequest) => Promise<Result>,
  ): Promise<Result> => {
    const converted = resolveClient(toGatewayRequest(request));
    return tenants.use(converted, ({ services: { authentication, events } }) => {
      const ofTenant = hostAuthentication({
        authentication,
        resolveClient: (resolved) => resolved,
        endSession: (session) => events.streams.endSession(session),
        observe,
      });
      return act(ofTenant, converted);
    });
  };
  return {
    authenticate: (request) => use(request, (authentication, converted) => authentication.authenticate(converted)),
    authorize: (request, options) =>
      use(request, (authentication, converted) => authentication.authorize(converted, options)),
    permitted: (request, endpoints) =>
      use(request, (authentication, converted) => authentication.permitted(converted, endpoints)),
    refuseCrossSite: (request) =>
      use(request, (authentication, converted) => authentication.refuseCrossSite(converted)),
    antiforgeryToken: (request, caller) =>
      use(request, (authentication, converted) => authentication.antiforgeryToken(converted, caller)),
    signIn: (request, claims, options) =>
      use(request, (authentication, converted) => authentication.signIn(converted, claims, options)),
    signOut: (request) => use(request, (authentication, converted) => authentication.signOut(converted)),
  };
}
