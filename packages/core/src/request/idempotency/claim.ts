import { createHash, type Hash } from 'node:crypto';
import type { ClaimTypes } from '../../auth/claims.ts';
import { callerIdentity } from '../../auth/identity.ts';
import type { Caller } from '../../ports/ports.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { CompiledIdempotency, KeyClaim } from './compile-idempotency.ts';

/**
 * Returns the claim of a key. The store has only hashes: an id of caller and key, which cannot be found without the key, and a fingerprint of
 * the request, which cannot be guessed without it.
 */
export function createClaim(
  key: string,
  { call, caller }: { readonly call: ExecutableCall; readonly caller: Caller | null },
  { claim, settings, shape, lifetime }: CompiledIdempotency,
  types: ClaimTypes,
): KeyClaim {
  const owner = caller === null ? anonymousOwner : callerIdentity(caller, types);
  const { id, fingerprint } = hashKey(key, owner, (hash) => addRequest(hash, call));
  return {
    id,
    steps: [{ statement: claim, values: [id, fingerprint, shape, lifetime] }],
    settings: { statement: settings, values: [id] },
    isOfReplay: false,
  };
}

/** The owner of the keys of anonymous callers. */
export const anonymousOwner = 'anonymous';

/** Returns the id of a key, and the fingerprint of the request that `addTo` adds to a hash; each as the text of a `bytea`. */
export function hashKey(
  key: string,
  owner: string,
  addTo: (hash: Hash) => Hash,
): { readonly id: string; readonly fingerprint: string } {
  return {
    id: toBytea(addText(addText(createHash('sha256'), owner), key)),
    fingerprint: toBytea(addTo(addText(addText(createHash('sha256'), `request of ${owner}`), key))),
  };
}

/** Adds the endpoint, and the parameters that the client has sent: claims, addresses and headers differ between repeated requests. */
function addRequest(hash: Hash, { candidate, parameters, values }: ExecutableCall): Hash {
  const { endpoint } = candidate;
  const { requestHeaders } = endpoint;
  const headers = requestHeaders.mode === 'parameter' ? requestHeaders.position : null;
  addText(hash, `${endpoint.method} ${endpoint.path}`);
  for (const [index, { name, position, injectedValue, hashOf }] of parameters.entries()) {
    if (injectedValue !== undefined || hashOf !== undefined || position === headers) continue;
    const value = values[index]!;
    addText(hash, name);
    if (value === null) hash.update('null;');
    else addText(hash, value);
  }
  return hash;
}

/** Adds a text with its length, so that different lists of texts have different hashes. */
export function addText(hash: Hash, text: string | Uint8Array): Hash {
  return hash.update(`${Buffer.byteLength(text)}:`).update(text);
}

function toBytea(hash: Hash): string {
  return `\\x${hash.digest('hex')}`;
}
