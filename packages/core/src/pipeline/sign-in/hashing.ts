import type { Value } from '../../database/port.ts';
import type { EndpointParameter } from '../../plan/endpoint.ts';
import type { Filled } from '../fill.ts';
import type { PasswordHasher } from '../ports.ts';

/**
 * Gives parameters that are hashes of others their values, whatever the client has sent for them. An empty or missing original has
 * no hash: NULL.
 */
export async function hashParameters(call: Filled, hasher: PasswordHasher): Promise<Filled> {
  const given = new Map(call.parameters.map((parameter, index) => [parameter.position, call.values[index]!]));
  const hashes = new Map<number, Value>();
  for (const { position, hashOf } of call.candidate.endpoint.parameters) {
    if (hashOf === undefined) continue;
    const original = textOf(given.get(hashOf) ?? null);
    // One after the other: there is one, and two would only fill the queue twice as fast.
    // oxlint-disable-next-line no-await-in-loop
    hashes.set(position, original === '' ? null : await hasher.hash(original));
  }
  const parameters = call.candidate.endpoint.parameters.filter(
    ({ position }) => given.has(position) || hashes.has(position),
  );
  const valueOf = ({ position }: EndpointParameter): Value =>
    hashes.has(position) ? hashes.get(position)! : given.get(position)!;
  return { ...call, parameters, values: parameters.map(valueOf) };
}

function textOf(value: Value): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : Buffer.from(value).toString();
}
