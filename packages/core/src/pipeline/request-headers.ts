import type { GatewayRequest } from '../http/request.ts';

export interface RequestHeaderOptions {
  /** Added to those of the request, and never seen by the client. */
  readonly custom: readonly (readonly [name: string, value: string])[];
  /** Lower case. */
  readonly exclude: ReadonlySet<string>;
}

/**
 * All headers of a request as one compact JSON object, in order of arrival, names as sent; then the host's own. A repeated
 * header is one member, its values joined as HTTP joins them.
 */
export function headersAsJson(request: GatewayRequest, { custom, exclude }: RequestHeaderOptions): string {
  const members = new Map<string, { name: string; value: string }>();
  for (const [name, value] of [...request.headers(), ...custom]) {
    const lower = name.toLowerCase();
    if (exclude.has(lower)) continue;
    const known = members.get(lower);
    if (known === undefined) members.set(lower, { name, value });
    else known.value += `${lower === 'cookie' ? '; ' : ', '}${value}`;
  }
  const pairs = [...members.values()].map(({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${pairs.join(',')}}`;
}
