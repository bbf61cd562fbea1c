import type { GatewayRequest } from '../http/request.ts';

export interface RequestHeaderOptions {
  /** The host's own. Each replaces the client's header of the same name, and is never seen by the client. */
  readonly custom: readonly (readonly [name: string, value: string])[];
  /** Names in lower case that a request is not read for: those that are excluded, and those of `custom`. */
  readonly exclude: ReadonlySet<string>;
}

/** A client must not add to what the host says: a name of the host's is the host's alone, in upper and lower case. */
export function requestHeaderOptions(
  custom: Readonly<Record<string, string | readonly string[]>>,
  exclude: readonly string[],
): RequestHeaderOptions {
  const excluded = new Set(exclude.map((name) => name.toLowerCase()));
  const told = Object.entries(custom).filter(([name]) => !excluded.has(name.toLowerCase()));
  return {
    custom: told.flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const)),
    exclude: new Set([...excluded, ...told.map(([name]) => name.toLowerCase())]),
  };
}

/**
 * All headers of a request as one compact JSON object, in order of arrival, names as sent; then the host's own. A repeated
 * header is one member, its values joined as HTTP joins them.
 */
export function headersAsJson(request: GatewayRequest, { custom, exclude }: RequestHeaderOptions): string {
  const members = new Map<string, { name: string; value: string }>();
  const sent = request.headers().filter(([name]) => !exclude.has(name.toLowerCase()));
  for (const [name, value] of [...sent, ...custom]) {
    const lower = name.toLowerCase();
    const known = members.get(lower);
    if (known === undefined) members.set(lower, { name, value });
    else known.value += `${lower === 'cookie' ? '; ' : ', '}${value}`;
  }
  const pairs = [...members.values()].map(({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${pairs.join(',')}}`;
}
