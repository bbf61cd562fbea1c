import type { AuthScheme, Caller } from '@pgway/core';

type Claim = Caller['claims'][number];

/** Authenticates by a header: `x-user: ada admin staff` is user ada with two roles. Users in `gone` are not authenticated. */
export function people(): { readonly scheme: AuthScheme; readonly gone: Set<string>; broken: boolean } {
  const gone = new Set<string>();
  const state = {
    gone,
    broken: false,
    scheme: {
      name: 'people',
      authenticate: (request) => {
        const [name, ...roles] = request.header('x-user')?.split(' ') ?? [];
        if (state.broken) throw new Error('the user directory is unavailable');
        if (name === undefined || gone.has(name)) return null;
        const claims: Claim[] = [['id', `id-${name}`], ['name', name], ...roles.map((role): Claim => ['roles', role])];
        return { scheme: 'people', claims, session: `session-of-${name}`, sentByBrowser: false };
      },
      challenge: () => 'People',
      signIn: null,
      signOut: () => Promise.resolve([]),
      routes: [],
    } satisfies AuthScheme,
  };
  return state;
}
