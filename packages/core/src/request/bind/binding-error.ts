import { Problem } from '../../http/problem.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { RequestInput } from '../../ports/request-input.ts';
import { truncateKey } from '../../http/json-reader.ts';
import { nearestName } from '../../validation/suggestion.ts';
import { isKeyed, type SignatureMatch } from './signature-match.ts';

interface Candidate {
  readonly endpoint: Endpoint;
}

/** Keys that a problem names; the others are counted. */
const maxNamed = 20;

/** The problem for missing and unknown keys. It names the first 20 of each. */
export function bindingError(match: SignatureMatch<Candidate>, input: RequestInput): Problem {
  const { endpoint } = match.candidate;
  const location = nameLocation(input);
  const unknown = match.unknown.slice(0, maxNamed);
  const body = match.missing.find(
    (parameter) => 'position' in parameter && parameter.position === endpoint.bodyParameter,
  );
  const missingKeys = match.missing.filter((parameter) => parameter !== body);
  const missing = missingKeys.slice(0, maxNamed);
  const details = unknown.map((key, index) => explainUnknown(match, key, { location, suggests: index === 0 }));
  if (match.unknown.length > maxNamed) details.push(`And ${match.unknown.length - maxNamed} more.`);
  if (missing.length > 0) {
    const names = missing.map(({ key, type }) => `"${key}" (${type.display})`);
    details.push(`Missing in ${location}: ${joinNames(names, missingKeys.length)}.`);
  }
  if (body !== undefined) details.push(`Missing: a body, which is the parameter "${body.key}" (${body.type.display}).`);
  return new Problem(match.unknown.length > 0 ? 'unknown-parameter' : 'missing-parameter', {
    detail: details.join(' '),
    members: {
      ...(unknown.length > 0 ? { unknown: unknown.map(truncateKey) } : {}),
      ...(match.missing.length > 0 ? { missing: match.missing.slice(0, maxNamed).map(({ key }) => key) } : {}),
    },
  });
}

function nameLocation(input: RequestInput): string {
  if (input.source === 'body') return 'the JSON body';
  return input.form !== undefined ? 'the form' : 'the query string';
}

/** @param count the number of all keys, unnamed ones included */
function joinNames(names: readonly string[], count: number): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `${names.join(', ')}${more}`;
}

interface Explanation {
  readonly location: string;
  /** Whether a similar name is searched for, which costs time: a request may have many keys. */
  readonly suggests: boolean;
}

function explainUnknown(match: SignatureMatch<Candidate>, key: string, { location, suggests }: Explanation): string {
  const { endpoint } = match.candidate;
  const parameter = endpoint.parameters.find(
    (known) => isNameOf(known, key) || known.fields?.some((field) => isNameOf(field, key)),
  );
  const shown = truncateKey(key);
  if (parameter === undefined) {
    const near = suggests ? suggestKey(match, key) : null;
    return `"${shown}" in ${location} is not a parameter of this endpoint${near === null ? '.' : `; did you mean "${near}"?`}`;
  }
  if (parameter.injectedValue === 'query') return `"${shown}" is computed by the server and may not be given.`;
  if (parameter.injectedValue !== undefined)
    return `"${shown}" is filled with what is known of the caller and may not be given.`;
  if (parameter.inPath) return `"${shown}" stands in the path and may not come from ${location} too.`;
  if (parameter.position === endpoint.bodyParameter)
    return `"${shown}" is the whole body and may not come from ${location}.`;
  return `"${shown}" in ${location} gives the parameter "${parameter.key}" once more.`;
}

/** The longest key and the largest number of parameters for which a similar name is searched. */
const maxCompared = 64;

/**
 * Returns the key of the parameter that an unknown key probably means, among those that the request may give and has not given; null for none.
 * Names of one or two letters all resemble each other.
 */
function suggestKey({ candidate, parameters: given }: SignatureMatch<Candidate>, key: string): string | null {
  const { endpoint } = candidate;
  const { parameters } = endpoint;
  if (key.length < 3 || key.length > maxCompared || parameters.length > maxCompared) return null;
  const open = parameters.filter((parameter) => isKeyed(endpoint, parameter) && !given.includes(parameter));
  return nearestName(
    key,
    open.map((parameter) => parameter.key),
  );
}

function isNameOf(known: { readonly key: string; readonly name: string }, key: string): boolean {
  return known.key === key || known.name === key;
}

export function noMatchingSignature(candidates: readonly Candidate[], keys: readonly string[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  const named = keys.slice(0, maxNamed).map((key) => `"${truncateKey(key)}"`);
  const given = keys.length === 0 ? 'no parameters' : joinNames(named, keys.length);
  return new Problem('no-matching-signature', {
    detail: `None takes exactly ${given}. On offer: ${signatures.join('; ')}.`,
    members: { signatures },
  });
}

export function ambiguousSignature(candidates: readonly Candidate[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  return new Problem('ambiguous-signature', {
    detail: `Several take exactly these parameters: ${signatures.join('; ')}. Give one that only one of them has.`,
    members: { signatures },
  });
}
