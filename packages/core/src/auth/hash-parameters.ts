import type { Value } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { EndpointParameter } from '../endpoints/endpoint.ts';
import type { RateLimiter } from '../ports/ports.ts';
import type { LoginCall } from './login.ts';
import type { LoginOptions } from './login-options.ts';

/**
 * Sets the parameters that are hashes of other parameters, whatever the client has sent for them. The hash of an empty or missing
 * parameter is NULL.
 * @throws Problem 429 when the client's address exceeds the rate limit, 503 when the hashing queue is full
 */
export async function hashParameters<Call extends LoginCall>(
  call: Call,
  { remoteAddress }: Pick<GatewayRequest, 'remoteAddress'>,
  { hasher, hashRateLimiter }: Pick<LoginOptions, 'hasher' | 'hashRateLimiter'>,
): Promise<Call> {
  const address = remoteAddress ?? null;
  const { endpoint } = call.candidate;
  const values = new Map(call.parameters.map((parameter, index) => [parameter.position, call.values[index]!]));
  const originals = endpoint.parameters.flatMap(({ position, hashOf }) =>
    hashOf === undefined ? [] : [[position, textOf(values.get(hashOf) ?? null)] as const],
  );
  if (originals.some(([, original]) => original !== '')) await consumeHashLimit(hashRateLimiter, address);
  const hashes = new Map<number, Value>();
  for (const [position, original] of originals) {
    // Sequential: parallel hashes of one call would take more of the hashing queue.
    hashes.set(position, original === '' ? null : await hasher.hash(original, address));
  }
  const parameters = endpoint.parameters.filter(({ position }) => values.has(position) || hashes.has(position));
  const valueOf = ({ position }: EndpointParameter): Value =>
    hashes.has(position) ? hashes.get(position)! : values.get(position)!;
  return { ...call, parameters, values: parameters.map(valueOf) };
}

/**
 * Counts a request against the limit, since each hash costs CPU time by design.
 * @throws Problem 429
 */
async function consumeHashLimit(limiter: RateLimiter, address: string | null): Promise<void> {
  const result = await limiter.consume(address);
  if (result.ok) return;
  throw new Problem('too-many-attempts', {
    title: 'Too many requests of this address have had passwords hashed; try again later',
    headers: ['retry-after', String(result.retryAfter)],
  });
}

function textOf(value: Value): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : Buffer.from(value).toString();
}
