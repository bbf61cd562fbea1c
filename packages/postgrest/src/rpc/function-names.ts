import type { Endpoint } from '@pgway/core';
import { isCallable } from './arguments.ts';

/** The names of the functions of each schema, by an object that copies of an endpoint keep. */
const functionNames = new WeakMap<Endpoint['parameters'], ReadonlyMap<string, readonly string[]>>();

/** Returns the names of functions by schema that a hint may name: those that every caller may call. */
export function namesBySchema(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, Set<string>>();
  for (const endpoint of endpoints) {
    const { schema, name, authorization, basicAuthentication } = endpoint;
    if (authorization.required || basicAuthentication !== null || !isCallable(endpoint)) continue;
    names.set(schema, (names.get(schema) ?? new Set()).add(name));
  }
  return new Map([...names].map(([schema, set]) => [schema, [...set]]));
}

/** Keeps the names of the functions of a load. */
export function keepFunctionNames(endpoints: readonly Endpoint[]): void {
  const names = namesBySchema(endpoints);
  for (const { parameters } of endpoints) functionNames.set(parameters, names);
}

/** Returns the names of the functions in the schema of an endpoint. */
export function functionNamesOf({ schema, parameters }: Endpoint): readonly string[] {
  return functionNames.get(parameters)?.get(schema) ?? [];
}
