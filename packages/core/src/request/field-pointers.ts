import { toPointer } from '../http/json-pointer.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { isKeyed } from './bind/signature-match.ts';
import type { RequestInput } from '../ports/request-input.ts';

/** What routines often put around the name of a column to name a parameter. */
const affixes = /^(?:_?(?:p|in)_(?=.)|_+)|_+$/g;

/**
 * Returns the JSON Pointers of the parameters for columns, each once. Columns without a parameter are left out, so that a response
 * names no column that its request does not have.
 * @param input decides whether a composite parameter was sent as an object or field by field; null: as an object
 */
export function findPointers(
  columns: readonly string[],
  endpoint: Endpoint,
  input: RequestInput | null,
): readonly string[] {
  const parameters = endpoint.parameters.filter(isSetByClient);
  const pointers = columns.flatMap((column) => findPointer(column, { endpoint, parameters, input }) ?? []);
  return [...new Set(pointers)];
}

/**
 * Returns the JSON Pointer of a key that a problem names: `book.title` is a field of the parameter `book`.
 */
export function keyToPointer(
  key: string,
  { parameters }: { readonly parameters: readonly { readonly key: string }[] },
): string {
  if (parameters.some((parameter) => parameter.key === key)) return toPointer(key);
  const parent = parameters.find((parameter) => key.startsWith(`${parameter.key}.`));
  if (parent === undefined) return toPointer(key);
  return toPointer(parent.key, ...key.slice(parent.key.length + 1).split('.'));
}

function isSetByClient({ injectedValue, hashOf }: EndpointParameter): boolean {
  return injectedValue === undefined && hashOf === undefined;
}

interface Search {
  readonly endpoint: Endpoint;
  readonly parameters: readonly EndpointParameter[];
  readonly input: RequestInput | null;
}

function findPointer(column: string, { endpoint, parameters, input }: Search): string | null {
  const parameter =
    parameters.find(({ name }) => name === column) ??
    parameters.find(({ key }) => key === column) ??
    parameters.find(({ name }) => name.replaceAll(affixes, '') === column);
  // The whole body is the value.
  if (parameter !== undefined) return isInRequest(endpoint, parameter) ? toPointer(parameter.key) : '';
  for (const composite of parameters) {
    const pointer = findField(column, composite, { endpoint, input });
    if (pointer !== null) return pointer;
  }
  return null;
}

function isInRequest(endpoint: Endpoint, parameter: EndpointParameter): boolean {
  return parameter.inPath || isKeyed(endpoint, parameter);
}

/** Finds a column among the fields of a composite parameter, or of the elements of an array. */
function findField(
  column: string,
  parameter: EndpointParameter,
  { endpoint, input }: Pick<Search, 'endpoint' | 'input'>,
): string | null {
  const { key, type } = parameter;
  const field = (type.fields ?? type.element?.fields)?.find((one) => one.name === column || one.key === column);
  if (field === undefined) return null;
  // Which element of an array was refused is unknown.
  const path = type.fields === undefined ? [] : [field.key];
  const separate = findSeparateKey(field.name, parameter, input);
  if (separate !== null) return toPointer(separate);
  return isInRequest(endpoint, parameter) ? toPointer(key, ...path) : toPointer(...path);
}

/** Returns the key of a field that the request has sent separately; null: the parameter was sent as an object. */
function findSeparateKey(
  field: string,
  { key, name, fields }: EndpointParameter,
  input: RequestInput | null,
): string | null {
  const values: ReadonlyMap<string, unknown> | undefined = input?.values;
  if (values === undefined || values.has(key) || values.has(name)) return null;
  return fields?.find((one) => one.name === `${name}_${field}`)?.key ?? null;
}
