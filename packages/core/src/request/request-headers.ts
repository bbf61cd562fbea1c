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

/**
 * Returns the values of the headers of a request, then those of the host, by their names in lower case. The values of a repeated header are
 * joined (RFC 9110, section 5.2).
 * @param names receives the names as sent
 */
export function headersByName(
  request: GatewayRequest,
  { custom, exclude }: RequestHeaderOptions,
  names?: Map<string, string>,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const add = (lower: string, name: string, value: string): void => {
    const known = values.get(lower);
    if (known === undefined) names?.set(lower, name);
    values.set(lower, known === undefined ? value : `${known}${lower === 'cookie' ? '; ' : ', '}${value}`);
  };
  for (const [name, value] of request.headers()) {
    const lower = name.toLowerCase();
    if (!exclude.has(lower)) add(lower, name, value);
  }
  for (const [name, value] of custom) add(name.toLowerCase(), name, value);
  return values;
}

/** Returns the headers as a JSON object, with names as sent. */
export function headersAsJson(request: GatewayRequest, options: RequestHeaderOptions): string {
  const names = new Map<string, string>();
  const values = headersByName(request, options, names);
  const pairs = [...names].map(([lower, name]) => `${JSON.stringify(name)}:${JSON.stringify(values.get(lower))}`);
  return `{${pairs.join(',')}}`;
}
