import type { Endpoint } from '../endpoint.ts';

/** Returns why a call of the endpoint cannot be repeated, or null. */
export function findRetryFault({ kind, table, upload, loginOrLogout }: Endpoint): string | null {
  if (table !== null) return 'it applies to functions and SQL files only; remove the line';
  if (kind === 'procedure')
    return 'a procedure may have committed before it fails; call a function, or remove the line';
  if (upload !== null) return 'the body of an upload can be read only once; remove the line';
  return loginOrLogout === null ? null : 'a login or logout is not repeated; remove the line';
}
