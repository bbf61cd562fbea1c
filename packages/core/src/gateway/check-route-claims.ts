import { display } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { AuthScheme, Observer } from '../ports/ports.ts';
import { nearestName } from '../validation/suggestion.ts';
import type { ResolvedOptions } from './options/options.ts';

/** Warns of claims in `changes by <column> = claim <name>` that no caller can have: the streams would never have an event. */
export function checkRouteClaims(
  endpoints: readonly Endpoint[],
  schemes: readonly AuthScheme[],
  { authentication }: Pick<ResolvedOptions, 'authentication'>,
  observe: Observer,
): void {
  const routed = endpoints.flatMap(({ path, changes, basicAuthentication }) =>
    (changes?.by ?? null) === null || basicAuthentication !== null ? [] : [{ path, claim: changes!.by!.claim }],
  );
  if (routed.length === 0) return;
  const known = schemes.length === 0 ? [] : listClaims(endpoints, authentication);
  for (const { path, claim } of routed) {
    if (known?.includes(claim) !== false) continue;
    const near = nearestName(claim, known);
    const remedy =
      schemes.length === 0
        ? 'as no authentication scheme is enabled; enable cookie, bearer, jwt or basic'
        : `as no login returns a column with this name; ${near === null ? `name one of ${known.map(display).join(', ')}` : `did you mean ${display(near)}?`}`;
    const message = `changes by … = claim ${display(claim)} of ${path}: no caller can have the claim, ${remedy}`;
    observe({ kind: 'start-warning', code: 'route-claim', message });
  }
}

/** Returns the names of all claims that callers may have; null: any. */
function listClaims(
  endpoints: readonly Endpoint[],
  { basic, externalSignIn, jwt, schemes }: ResolvedOptions['authentication'],
): readonly string[] | null {
  // Tokens of issuers, commands and custom schemes have any claims.
  if (basic !== null || externalSignIn !== null || schemes.length > 0 || jwt !== null) return null;
  const logins = endpoints.filter(({ loginOrLogout }) => loginOrLogout?.kind === 'login');
  const columns = logins.map(({ result }) => ('columns' in result ? result.columns : null));
  // The host program may sign callers in.
  if (columns.length === 0) return null;
  return columns.some((own) => own === null) ? null : columns.flatMap((own) => own!.map(({ name }) => name));
}
