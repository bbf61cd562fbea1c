import type { Value } from '../../postgres/port.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { EndpointParameter } from '../../endpoints/endpoint.ts';
import type { Filled } from '../inject.ts';
import type { SignInOptions } from './options.ts';

/**
 * Gives parameters that are hashes of others their values, whatever the client has sent for them. An empty or missing original has
 * no hash: NULL.
 * @throws Problem 429 when the client's address has had too many requests hashed, 503 when too many wait
 */
export async function hashParameters(
  call: Filled,
  { remoteAddress }: Pick<GatewayRequest, 'remoteAddress'>,
  { hasher, hashRateLimit }: Pick<SignInOptions, 'hasher' | 'hashRateLimit'>,
): Promise<Filled> {
  const address = remoteAddress ?? null;
  const given = new Map(call.parameters.map((parameter, index) => [parameter.position, call.values[index]!]));
  const originals = call.candidate.endpoint.parameters.flatMap(({ position, hashOf }) =>
    hashOf === undefined ? [] : [[position, textOf(given.get(hashOf) ?? null)] as const],
  );
  if (originals.some(([, original]) => original !== '')) refuseTooMany(hashRateLimit.take(address));
  const hashes = new Map<number, Value>();
  for (const [position, original] of originals) {
    // One after the other: there is one, and two would only fill the queue twice as fast.
    // oxlint-disable-next-line no-await-in-loop
    hashes.set(position, original === '' ? null : await hasher.hash(original, address));
  }
  const parameters = call.candidate.endpoint.parameters.filter(
    ({ position }) => given.has(position) || hashes.has(position),
  );
  const valueOf = ({ position }: EndpointParameter): Value =>
    hashes.has(position) ? hashes.get(position)! : given.get(position)!;
  return { ...call, parameters, values: parameters.map(valueOf) };
}

/** Hashing is made to be costly: an address that may have it done without end takes the processors from all others. */
function refuseTooMany(taken: ReturnType<SignInOptions['hashRateLimit']['take']>): void {
  if (taken.ok) return;
  throw new Problem('too-many-attempts', {
    title: 'Too many requests of this address have had passwords hashed; try again later',
    headers: ['retry-after', String(taken.retryAfter)],
  });
}

function textOf(value: Value): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : Buffer.from(value).toString();
}
