/** The errors PGRST202 and PGRST203 of calls that no function, or several functions can be meant by. */
import type { Endpoint, Problem } from '@pgway/core';
import { truncateKey } from '@pgway/core/internal';
import { postgrestProblem } from '../postgrest-problem.ts';
import { findSimilarName } from '../similar-name.ts';
import { argumentsOf } from './arguments.ts';

/** A function as a request names it. */
export interface CalledName {
  readonly schema: string;
  readonly name: string;
}

/** What a call has given. */
export interface GivenArguments {
  /** The names of the arguments; null: the body is one value. */
  readonly names: readonly string[] | null;
  /** The type of a parameter without a name that the body could have been the value of; null: none. */
  readonly wholeType: string | null;
}

const maxNames = 20;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map(truncateKey);
  return [...shown, ...(names.length > maxNames ? ['…'] : [])].join(', ');
}

/**
 * Returns the error of a call for which there is no function.
 * @param hint null: none
 */
export function unknownFunction(
  { schema, name }: CalledName,
  { names, wholeType }: GivenArguments,
  hint: string | null,
): Problem {
  const called = `${schema}.${name}`;
  const listed = names === null ? '' : listNames(names);
  const isEmpty = names?.length === 0;
  const signature = names === null ? '' : isEmpty ? ' without parameters' : `(${listed})`;
  const searched = [
    ...(names === null
      ? []
      : [isEmpty ? ' without parameters' : ` with parameter${names.length > 1 ? 's' : ''} ${listed}`]),
    ...(wholeType === null ? [] : [` with a single unnamed ${wholeType} parameter`]),
  ];
  return postgrestProblem(404, 'PGRST202', `Could not find the function ${called}${signature} in the schema cache`, {
    details: `Searched for the function ${called}${searched.join(' or')}, but no matches were found in the schema cache.`,
    hint,
  });
}

/** Arguments of a function are not secret to callers that may call it. */
const minArguments = 0.33;

/** Returns the hint at the most similar list of arguments of the overloads; null without one. */
export function hintAtArguments(
  { schema, name }: CalledName,
  names: readonly string[],
  endpoints: readonly Endpoint[],
): string | null {
  const lists = endpoints.map((endpoint) => listSorted(argumentsOf(endpoint).map((parameter) => parameter.name)));
  const similar = findSimilarName(listSorted(names), lists, minArguments);
  return similar === null ? null : callHint(`${schema}.${name}${similar}`);
}

function listSorted(names: readonly string[]): string {
  return `(${names.toSorted().join(', ')})`;
}

/** Names that are less similar would tell a caller more than a misspelling needs. */
export const minName = 0.75;

/** Returns the hint at the function with the most similar name; null without one. */
export function hintAtName({ schema, name }: CalledName, names: readonly string[]): string | null {
  const similar = findSimilarName(name, names, minName);
  return similar === null ? null : callHint(`${schema}.${similar}`);
}

function callHint(called: string): string {
  return `Perhaps you meant to call the function ${called}`;
}

/** Returns the error of a call that several functions can be meant by. */
export function ambiguousFunction(endpoints: readonly Endpoint[]): Problem {
  const signatures = endpoints
    .map((endpoint) => ({ endpoint, parameters: argumentsOf(endpoint) }))
    .map(({ endpoint: { schema, name }, parameters }) => {
      const listed = parameters.map((each) => `${each.unnamed ? '' : each.name} => ${each.type.display}`).join(', ');
      return { count: parameters.length, text: `${schema}.${name}(${listed})` };
    })
    .toSorted((a, b) => a.count - b.count || (a.text < b.text ? -1 : 1));
  // The format of problems makes it 300.
  return postgrestProblem(
    400,
    'PGRST203',
    `Could not choose the best candidate function between: ${signatures.map(({ text }) => text).join(', ')}`,
    {
      hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
    },
  );
}
