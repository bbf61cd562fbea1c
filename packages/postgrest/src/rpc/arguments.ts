/** Which parameters of a function are arguments of its calls, and which parameters of a query string give them. */
import type { Endpoint, EndpointParameter } from '@pgway/core';

/** Returns the parameters that requests give; the gateway fills the others. */
export function argumentsOf({ parameters }: Pick<Endpoint, 'parameters'>): readonly EndpointParameter[] {
  return parameters.filter(
    ({ injectedValue, hashOf, position }) =>
      injectedValue === undefined && (hashOf === undefined || hashOf === position),
  );
}

/** The types of a single parameter without a name: the body of a request is its value. */
const wholeTypes: ReadonlySet<string> = new Set(['json', 'jsonb', 'text', 'xml', 'bytea']);

/** Returns the only parameter, if it has no name and a body can be its value; null for other functions. */
export function wholeBodyParameter(endpoint: Endpoint): EndpointParameter | null {
  const [parameter, ...others] = argumentsOf(endpoint);
  if (parameter?.unnamed !== true || others.length > 0) return null;
  return wholeTypes.has(parameter.type.builtin ?? '') ? parameter : null;
}

/** Whether clients can call the function: an argument without a name can only be a whole body. */
export function isCallable(endpoint: Endpoint): boolean {
  return argumentsOf(endpoint).every(({ unnamed }) => !unnamed) || wholeBodyParameter(endpoint) !== null;
}

/** Parameters of the query string that are part of the read, if no function has an argument of that name. */
const reserved: ReadonlySet<string> = new Set([
  'select',
  'order',
  'limit',
  'offset',
  'and',
  'or',
  'columns',
  'on_conflict',
]);

const operator =
  /^(?:not\..|is\.|in\.|(?:eq|neq|gte?|lte?|i?like|i?match|isdistinct|cs|cd|ov|sl|sr|nxr|nxl|adj)(?:\((?:any|all)\))?\.|(?:pl|ph|w)?fts(?:\([^)]*\))?\.)/;

/** Whether a parameter of the query string gives an argument, and does not filter the rows. */
export function isArgument(name: string, value: string, names: ReadonlySet<string>): boolean {
  if (names.has(name)) return !operator.test(value);
  return !reserved.has(name) && !name.includes('.') && !operator.test(value);
}

/** Returns the names of the arguments that the endpoints take in a query string. */
export function queryArguments(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  return new Set(endpoints.flatMap((endpoint) => argumentsOf(endpoint).map(({ name }) => name)));
}
