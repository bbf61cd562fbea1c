import type { Endpoint, EndpointParameter, ParameterField } from '../../endpoints/endpoint.ts';
import { isPath } from '../parse/read-paths.ts';
import type { RequestInput } from '../../ports/request-input.ts';

/** The client's input: query or body, and path. */
export interface BindInput {
  readonly input: RequestInput;
  /** Decoded values of path parameters, by the name in the path. */
  readonly path: ReadonlyMap<string, string>;
  readonly ignoreUnknown: boolean;
}

/** The comparison of the given keys with one signature. */
export interface SignatureMatch<Candidate> {
  readonly candidate: Candidate;
  /** The given parameters, in the routine's order. */
  readonly parameters: readonly EndpointParameter[];
  /** Parameters, or fields of a composite parameter that is given field by field. */
  readonly missing: readonly (EndpointParameter | ParameterField)[];
  readonly unknown: readonly string[];
  /** The number of parameters that take their default. */
  readonly omitted: number;
}

const none: readonly never[] = [];

/** Finds a value by the converted name of a parameter, or by its original name. */
export function findByName<Item>(
  values: ReadonlyMap<string, Item>,
  { key, name }: { readonly key: string; readonly name: string },
): Item | undefined {
  return values.get(key) ?? values.get(name);
}

export function matchSignature<Candidate extends { readonly endpoint: Endpoint }>(
  candidate: Candidate,
  request: BindInput,
): SignatureMatch<Candidate> {
  const values: ReadonlyMap<string, unknown> = request.input.values;
  const { endpoint } = candidate;
  const given: EndpointParameter[] = [];
  const missing: (EndpointParameter | ParameterField)[] = [];
  let used = countIgnoredKeys(endpoint, values);
  for (const parameter of endpoint.parameters) {
    const keys = isKeyed(endpoint, parameter) ? countKeys(values, parameter) : 0;
    used += keys;
    if (keys > 0 || readUnkeyedText(endpoint, parameter, request) !== null) given.push(parameter);
    else if (!parameter.optional && !isInjected(endpoint, parameter)) missing.push(parameter);
    if (keys > 0 && parameter.fields !== null) missing.push(...missingFields(values, parameter));
  }
  const hasNoUnknown = used === values.size || (request.ignoreUnknown && !endpoint.rejectsUnknownKeys);
  return {
    candidate,
    parameters: given,
    missing,
    unknown: hasNoUnknown ? none : findUnknownKeys(endpoint, [...values.keys()]),
    omitted: endpoint.parameters.length - given.length,
  };
}

/** Whether the value comes from a key of the query or body, not from the path or the whole body. */
export function isKeyed(endpoint: Endpoint, parameter: EndpointParameter): boolean {
  if (parameter.inPath || parameter.position === endpoint.bodyParameter) return false;
  return parameter.injectedValue === undefined && parameter.position !== endpoint.upload?.metadataParameter;
}

/** Whether the gateway fills the parameter, as with claims, hashes and the metadata of uploaded files. */
function isInjected({ upload }: Endpoint, { injectedValue, hashOf, position }: EndpointParameter): boolean {
  return injectedValue !== undefined || hashOf !== undefined || position === upload?.metadataParameter;
}

/** Reads the value of a parameter without a key: from the path, or the whole body. Null when it is missing. */
export function readUnkeyedText(
  endpoint: Endpoint,
  parameter: EndpointParameter,
  { path, input: given }: BindInput,
): string | null {
  if (parameter.inPath) return findByName(path, parameter) ?? null;
  return parameter.position === endpoint.bodyParameter && given.source === 'query' ? given.body : null;
}

/** A composite parameter that is given field by field needs all of its fields. */
function missingFields(values: ReadonlyMap<string, unknown>, parameter: EndpointParameter): readonly ParameterField[] {
  if (findByName(values, parameter) !== undefined) return none;
  return parameter.fields!.filter((field) => findByName(values, field) === undefined);
}

/** Counts the keys that give the parameter: one, or one for each field of a composite. */
function countKeys(values: ReadonlyMap<string, unknown>, parameter: EndpointParameter): number {
  if (findByName(values, parameter) !== undefined) return 1;
  if (parameter.fields === null) return 0;
  let count = 0;
  for (const field of parameter.fields) if (findByName(values, field) !== undefined) count++;
  return count;
}

const isIgnored = ({ upload, parameters }: Endpoint, given: string): boolean =>
  upload !== null &&
  parameters.some(
    ({ key, name, position }) => position === upload.metadataParameter && (key === given || name === given),
  );

/** Counts the keys of the parameter that receives the metadata of uploaded files. A value from the client is ignored. */
function countIgnoredKeys(endpoint: Endpoint, values: ReadonlyMap<string, unknown>): number {
  return endpoint.upload === null ? 0 : [...values.keys()].filter((key) => isIgnored(endpoint, key)).length;
}

/** Returns the keys without a parameter, those of path parameters, and second names of the same parameter. */
function findUnknownKeys(endpoint: Endpoint, keys: readonly string[]): readonly string[] {
  const names = new Map<string, object>();
  for (const parameter of endpoint.parameters) {
    if (!isKeyed(endpoint, parameter)) continue;
    // Given as a whole, the parameter takes no fields.
    const isWhole = keys.includes(parameter.key) || keys.includes(parameter.name);
    if (!isWhole) for (const field of parameter.fields ?? none) addNames(names, field);
    addNames(names, parameter);
  }
  const seen = new Set<object>();
  return keys.filter((key) => {
    if (isIgnored(endpoint, key)) return false;
    const target = names.get(key);
    if (target === undefined && isPath(endpoint, key)) return false;
    if (target === undefined || seen.has(target)) return true;
    seen.add(target);
    return false;
  });
}

function addNames(names: Map<string, object>, target: { readonly key: string; readonly name: string }): void {
  names.set(target.name, target);
  names.set(target.key, target);
}
