import { nearestName } from '../validation/suggestion.ts';
import { display } from './diagnostic.ts';
import type { EndpointParameter } from './endpoint.ts';

/** Returns the message for a name in a comment that is not a parameter, with the parameter that it probably means. */
export function unknownParameter(name: string, parameters: readonly Pick<EndpointParameter, 'name' | 'key'>[]): string {
  return `the routine has no parameter ${display(name)}; ${suggestParameter(name, parameters) ?? 'correct the name'}`;
}

/** Returns `did you mean "x"?`, or null. Comments may have the name in the database or the key of requests. */
export function suggestParameter(
  name: string,
  parameters: readonly Pick<EndpointParameter, 'name' | 'key'>[],
): string | null {
  const known = parameters.map((parameter) => (name.startsWith('_') ? parameter.name : parameter.key));
  const sameLetters = known.find((candidate) => candidate.toLowerCase() === name.toLowerCase()) ?? null;
  // Names of one or two letters all resemble each other.
  const near = sameLetters ?? (name.replace(/\W|_/g, '').length < 3 ? null : nearestName(name, known));
  return near === null ? null : `did you mean ${display(near)}?`;
}
