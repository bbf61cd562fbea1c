import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { AuthScheme, Caller, Observer } from '../ports/ports.ts';
import { type LoginOptions, selectScheme } from './login-options.ts';
import { columnValues, type LoginRow } from './login-row.ts';

export interface LogoutRequest {
  readonly request: GatewayRequest;
  readonly caller: Caller | null;
  /** The scheme names that the routine has returned. */
  readonly names: readonly string[];
  readonly observe: Observer;
}

/** Returns the scheme names among the values of a logout routine: an array has one name per element. */
export function schemeNames(rows: readonly LoginRow[], columns: readonly ResultColumn[]): readonly string[] {
  const texts = rows.flatMap((row) =>
    row.flatMap((text, index) => {
      const column = columns[index];
      return column === undefined ? [text ?? ''] : columnValues(column, text);
    }),
  );
  return texts.filter((name) => name !== '');
}

/**
 * Signs the caller out of the named schemes; without a name, out of the caller's own scheme, or else the default scheme. An unknown
 * name is reported and ignored: a mistake in the routine must not keep the caller signed in.
 */
export async function logout(
  { request, caller, names, observe }: LogoutRequest,
  options: LoginOptions,
): Promise<GatewayResponse> {
  const known = names.filter((name) => isScheme(name, options));
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) observe({ kind: 'authentication-error', error: unknownSchemes(unknown) });
  const schemes: readonly (AuthScheme | null)[] =
    known.length > 0
      ? known.map((name) => selectScheme(options, name, 'signOut'))
      : [selectScheme(options, caller?.scheme ?? null, 'signOut') ?? selectScheme(options, null, 'signOut')];
  const headers: string[] = [];
  for (const scheme of new Set(schemes)) {
    // Sequential: the headers keep the routine's order.
    if (scheme?.signOut) headers.push(...(await scheme.signOut(request)));
  }
  return { kind: 'whole', status: 200, headers, body: '' };
}

function isScheme(name: string, { schemes, authenticationType }: LoginOptions): boolean {
  return name === authenticationType || schemes.some((scheme) => scheme.name === name);
}

function unknownSchemes(names: readonly string[]): Error {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 100)));
  return new Error(`A logout routine names what is not a scheme: ${shown.join(', ')}.`);
}
