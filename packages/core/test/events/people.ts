import type { AuthScheme, Caller } from '@pgway/core';

type Claim = Caller['claims'][number];

/** Callers by a header: `x-user: ada admin staff` is user ada with two roles. Who is taken out is nobody any more. */
export function people(): { readonly scheme: AuthScheme; readonly gone: Set<string>; broken: boolean } {
  const gone = new Set<string>();
  const state = {
    gone,
    broken: false,
    scheme: {
      name: 'people',
      authenticate: (request) => {
        const [name, ...roles] = request.header('x-user')?.split(' ') ?? [];
        if (state.broken) throw new Error('nobody can be asked');
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
