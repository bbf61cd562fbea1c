import type { Endpoint, EndpointParameter, ParameterField } from '../../endpoints/endpoint.ts';
import type { RequestInput } from '../parse/parse-input.ts';

/** What the client has sent: in the query or body, and in the path. */
export interface BindInput {
  readonly input: RequestInput;
  /** Decoded values of path parameters, by the name in the path. */
  readonly path: ReadonlyMap<string, string>;
  readonly ignoreUnknown: boolean;
}

/** How the given keys fit one endpoint. */
export interface SignatureMatch<Candidate> {
  readonly candidate: Candidate;
  /** The parameters that were given, in the routine's order. */
  readonly parameters: readonly EndpointParameter[];
  /** Parameters, or fields of a composite one that was given field by field. */
  readonly missing: readonly (EndpointParameter | ParameterField)[];
  readonly unknown: readonly string[];
  /** How many defaults are left to PostgreSQL. */
  readonly omitted: number;
}

const none: readonly never[] = [];

/** By its converted name, as clients usually do, or by the original one. */
export function findByName<Item>(
  values: ReadonlyMap<string, Item>,
  { key, name }: { readonly key: string; readonly name: string },
): Item | undefined {
  return values.get(key) ?? values.get(name);
}

export function matchSignature<Candidate extends { readonly endpoint: Endpoint }>(
  candidate: Candidate,
  sent: BindInput,
): SignatureMatch<Candidate> {
  const values: ReadonlyMap<string, unknown> = sent.input.values;
  const { endpoint } = candidate;
  const taken: EndpointParameter[] = [];
  const missing: (EndpointParameter | ParameterField)[] = [];
  let used = 0;
  for (const parameter of endpoint.parameters) {
    const keys = isKeyed(endpoint, parameter) ? countKeys(values, parameter) : 0;
    used += keys;
    if (keys > 0 || readUnkeyedText(endpoint, parameter, sent) !== null) taken.push(parameter);
    else if (!parameter.optional && !isInjected(parameter)) missing.push(parameter);
    if (keys > 0 && parameter.fields !== null) missing.push(...missingFields(values, parameter));
  }
  const exact = used === values.size || (sent.ignoreUnknown && !endpoint.rejectsUnknownKeys);
  return {
    candidate,
    parameters: taken,
    missing,
    unknown: exact ? none : unknownKeys(endpoint, [...values.keys()]),
    omitted: endpoint.parameters.length - taken.length,
  };
}

/** Whether a key of the query or body gives the parameter its value; otherwise the path does, or the body as a whole. */
export function isKeyed(endpoint: Endpoint, parameter: EndpointParameter): boolean {
  return !parameter.inPath && parameter.position !== endpoint.bodyParameter && parameter.injectedValue === undefined;
}

/** Whether the gateway gives the parameter its value: an identity is never taken from a request. */
function isInjected({ injectedValue, hashOf }: EndpointParameter): boolean {
  return injectedValue !== undefined || hashOf !== undefined;
}

/** The text of a parameter that no key gives: from the path, or the whole body. Null when it was not sent. */
export function readUnkeyedText(
  endpoint: Endpoint,
  parameter: EndpointParameter,
  { path, input: given }: BindInput,
): string | null {
  if (parameter.inPath) return findByName(path, parameter) ?? null;
  return parameter.position === endpoint.bodyParameter && given.source === 'query' ? given.body : null;
}

/** Given field by field, a composite parameter wants all of them. */
function missingFields(values: ReadonlyMap<string, unknown>, parameter: EndpointParameter): readonly ParameterField[] {
  if (findByName(values, parameter) !== undefined) return none;
  return parameter.fields!.filter((field) => findByName(values, field) === undefined);
}

/** How many of the given keys this parameter uses: one, or one per field of a composite one. */
function countKeys(values: ReadonlyMap<string, unknown>, parameter: EndpointParameter): number {
  if (findByName(values, parameter) !== undefined) return 1;
  if (parameter.fields === null) return 0;
  let count = 0;
  for (const field of parameter.fields) if (findByName(values, field) !== undefined) count++;
  return count;
}

/** What no parameter takes: strange keys, those that stand in the path, and a parameter given under two of its names. */
function unknownKeys(endpoint: Endpoint, keys: readonly string[]): readonly string[] {
  const names = new Map<string, object>();
  for (const parameter of endpoint.parameters) {
    if (!isKeyed(endpoint, parameter)) continue;
    // Given as a whole, it takes no fields.
    const whole = keys.includes(parameter.key) || keys.includes(parameter.name);
    if (!whole) for (const field of parameter.fields ?? none) name(names, field);
    name(names, parameter);
  }
  const seen = new Set<object>();
  return keys.filter((key) => {
    const target = names.get(key);
    if (target === undefined || seen.has(target)) return true;
    seen.add(target);
    return false;
  });
}

function name(names: Map<string, object>, target: { readonly key: string; readonly name: string }): void {
  names.set(target.name, target);
  names.set(target.key, target);
}
