import type { Authentication } from '../open-authentication.ts';
import type { AuthenticationOptions } from '../options/authentication-options.ts';
import { authorize } from '../../auth/authorize.ts';
import { withCallerHeaders } from '../../auth/caller-headers.ts';
import type { SchemeRoute } from '../../ports/ports.ts';

/** Where a signed-in caller gets the token that proves its own will: `{"token": "…"}` and a cookie that its pages can read. */
export function antiforgeryEndpoint(
  { antiforgeryPath }: AuthenticationOptions,
  { access, csrfGuard }: Authentication,
): readonly SchemeRoute[] {
  if (antiforgeryPath === null) return [];
  const guarded = {
    endpoint: { authorization: { required: true, roles: [] }, basic: null },
    needsCaller: true,
    changesData: false,
    ownScheme: null,
  };
  return [
    {
      method: 'GET',
      path: antiforgeryPath,
      handle: async (request) => {
        const { caller } = await authorize([guarded], request, access);
        const { token, headers } = await csrfGuard.issue(caller!, request);
        const own = ['content-type', 'application/json', 'cache-control', 'no-store', ...headers];
        return withCallerHeaders({ kind: 'whole', status: 200, headers: own, body: JSON.stringify({ token }) }, caller);
      },
    },
  ];
}
