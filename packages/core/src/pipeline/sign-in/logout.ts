import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Caller } from '../ports.ts';
import { schemeFor, type SignInOptions } from './options.ts';

/**
 * Signs the caller out of the schemes that the routine's values name; of the one that recognised the caller, or else the default
 * one, when it names none.
 */
export async function signOut(
  request: GatewayRequest,
  caller: Caller | null,
  options: SignInOptions,
  rows: readonly (readonly (string | null)[])[],
): Promise<GatewayResponse> {
  const named = rows.flat().filter((name) => name !== null && name !== '');
  const schemes =
    named.length > 0
      ? named.map((name) => schemeFor(options, name, 'signOut'))
      : [schemeFor(options, caller?.scheme ?? null, 'signOut') ?? schemeFor(options, null, 'signOut')];
  const headers: string[] = [];
  for (const scheme of new Set(schemes)) {
    // In the order that the routine gave them.
    // oxlint-disable-next-line no-await-in-loop
    if (scheme?.signOut) headers.push(...(await scheme.signOut(request)));
  }
  return { kind: 'whole', status: 200, headers, body: '' };
}
