import type { GatewayRequest } from '../http/request.ts';

export interface RequestHeaderOptions {
  /** Headers of the host. Each replaces the client's header of the same name. */
  readonly custom: readonly (readonly [name: string, value: string])[];
  /** Lower-case names of the client's headers to leave out, those of `custom` included. */
  readonly exclude: ReadonlySet<string>;
}

/** Excludes the client's headers that have the name of a host header, in any case: it must not add values. */
export function requestHeaderOptions(
  custom: Readonly<Record<string, string | readonly string[]>>,
  exclude: readonly string[],
): RequestHeaderOptions {
  const excluded = new Set(exclude.map((name) => name.toLowerCase()));
  const hostHeaders = Object.entries(custom).filter(([name]) => !excluded.has(name.toLowerCase()));
  return {
    custom: hostHeaders.flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const)),
    exclude: new Set([...excluded, ...hostHeaders.map(([name]) => name.toLowerCase())]),
  };
}

interface NamedHeader {
  /** The name as sent. */
  readonly name: string;
  value: string;
}

/**
 * Returns the headers of a request, then those of the host, by their names in lower case. The values of a repeated header are joined
 * (RFC 9110, section 5.2).
 */
function joinHeaders(
  request: GatewayRequest,
  { custom, exclude }: RequestHeaderOptions,
): ReadonlyMap<string, NamedHeader> {
  const members = new Map<string, NamedHeader>();
  const add = (lower: string, name: string, value: string): void => {
    const known = members.get(lower);
    if (known === undefined) members.set(lower, { name, value });
    else known.value += `${lower === 'cookie' ? '; ' : ', '}${value}`;
  };
  for (const [name, value] of request.headers()) {
    const lower = name.toLowerCase();
    if (!exclude.has(lower)) add(lower, name, value);
  }
  for (const [name, value] of custom) add(name.toLowerCase(), name, value);
  return members;
}

/** Returns the headers as a JSON object, with names as sent. */
export function headersAsJson(request: GatewayRequest, options: RequestHeaderOptions): string {
  const pairs = [...joinHeaders(request, options).values()].map(
    ({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${pairs.join(',')}}`;
}

/** Returns the values of the headers by their names in lower case. */
export function headersByName(request: GatewayRequest, options: RequestHeaderOptions): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, { value }] of joinHeaders(request, options)) values.set(name, value);
  return values;
}
