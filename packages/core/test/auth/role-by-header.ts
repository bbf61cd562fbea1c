import type { AuthScheme } from '@pgway/core';

/** The role that the request header `x-role` names runs its calls. */
export const roleByHeader: AuthScheme = {
  name: 'header',
  authenticate: (request) => {
    const role = request.header('x-role');
    return role === undefined
      ? null
      : { scheme: 'header', claims: [['db_role', role]], session: null, sentByBrowser: false };
  },
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};
