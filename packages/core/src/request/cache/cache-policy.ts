import { createHash } from 'node:crypto';
import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';

/** What is known at start of an endpoint whose answers are kept. */
export interface Caching {
  /** `schema.name`. */
  readonly routine: string;
  /** Changes with everything that is planned of the endpoint, so that no answer outlives what it was made by. */
  readonly fingerprint: string;
  /** By position less one: whether the parameter tells answers apart. */
  readonly telling: readonly boolean[];
  readonly expires: number | null;
  /** Whether anybody may be given the answer of anybody else, as far as the endpoint alone can tell. */
  readonly anybodys: boolean;
  /** Headers that the author has set: they are what is said, and ours stay out. */
  readonly said: ReadonlySet<string>;
}

/** @param personal whether a call depends on more than its parameters */
export function cachingOf(endpoint: Endpoint, personal: boolean): Caching {
  const { schema, name, parameters, cache, requestHeaders, headers } = endpoint;
  return {
    routine: `${schema}.${name}`,
    fingerprint: createHash('sha256').update(JSON.stringify(endpoint)).digest('base64url').slice(0, 22),
    telling: parameters.map((parameter) => tells(endpoint, parameter)),
    expires: cache!.expires,
    anybodys:
      !personal &&
      requestHeaders.mode === 'ignore' &&
      parameters.every(({ injected: filling }) => filling === undefined),
    said: new Set(headers.map((header) => header.name.toLowerCase())),
  };
}

/** What the gateway fills in of the caller and of the request is never the author's to leave out. */
function tells({ cache, requestHeaders }: Endpoint, { position, injected: filling }: EndpointParameter): boolean {
  if (cache!.parameters === null || cache!.parameters.includes(position) || filling !== undefined) return true;
  return requestHeaders.mode === 'parameter' && requestHeaders.position === position;
}
