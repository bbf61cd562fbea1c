import type { AuthScheme } from '@pgway/core';

/** A scheme that runs calls under the role of the request header `x-role`. */
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
