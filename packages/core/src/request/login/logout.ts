import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { ResultColumn } from '../../endpoints/endpoint.ts';
import type { AuthScheme, Caller, Observer } from '../../ports/ports.ts';
import { schemeFor, type SignInOptions } from './options.ts';
import { type TextRow, valuesOf } from './signed-row.ts';

export interface Leaving {
  readonly request: GatewayRequest;
  readonly caller: Caller | null;
  /** What the routine's values say. */
  readonly names: readonly string[];
  readonly observe: Observer;
}

/** The schemes that the values of a logout routine name: an array names one with each element. */
export function namesIn(rows: readonly TextRow[], columns: readonly ResultColumn[]): readonly string[] {
  const texts = rows.flatMap((row) =>
    row.flatMap((text, index) => {
      const column = columns[index];
      return column === undefined ? [text ?? ''] : valuesOf(column, text);
    }),
  );
  return texts.filter((name) => name !== '');
}

/**
 * Signs the caller out of the schemes that are named; of the one that recognised the caller, or else the default one, when none is.
 * A name that nothing has is told, and counts as none: a caller who wants to leave does not stay for a mistake of the author's.
 */
export async function signOut(
  { request, caller, names, observe }: Leaving,
  options: SignInOptions,
): Promise<GatewayResponse> {
  const known = names.filter((name) => isScheme(name, options));
  const strange = names.filter((name) => !known.includes(name));
  if (strange.length > 0) observe({ kind: 'authentication-problem', error: noSchemes(strange) });
  const schemes: readonly (AuthScheme | null)[] =
    known.length > 0
      ? known.map((name) => schemeFor(options, name, 'signOut'))
      : [schemeFor(options, caller?.scheme ?? null, 'signOut') ?? schemeFor(options, null, 'signOut')];
  const headers: string[] = [];
  for (const scheme of new Set(schemes)) {
    // In the order that the routine gave them.
    // oxlint-disable-next-line no-await-in-loop
    if (scheme?.signOut) headers.push(...(await scheme.signOut(request)));
  }
  return { kind: 'whole', status: 200, headers, body: '' };
}

function isScheme(name: string, { schemes, authenticationType }: SignInOptions): boolean {
  return name === authenticationType || schemes.some((scheme) => scheme.name === name);
}

function noSchemes(names: readonly string[]): Error {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 100)));
  return new Error(`A logout routine names what is no scheme: ${shown.join(', ')}.`);
}
