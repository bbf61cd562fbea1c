import { Problem } from '../../http/problem.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { RequestInput } from '../parse/parse-input.ts';
import { truncateKey } from '../../http/json-reader.ts';
import type { SignatureMatch } from './signature-match.ts';

interface Planned {
  readonly endpoint: Endpoint;
}

/** So many keys are named; of the others an answer tells how many they are. */
const mostNamed = 20;

/** The given keys are not those of the endpoint: names the first 20 of them. */
export function bindingError(fit: SignatureMatch<Planned>, source: RequestInput['source']): Problem {
  const { endpoint } = fit.candidate;
  const place = source === 'query' ? 'the query string' : 'the JSON body';
  const unknown = fit.unknown.slice(0, mostNamed);
  const body = fit.missing.find((one) => 'position' in one && one.position === endpoint.bodyParameter);
  const keyed = fit.missing.filter((one) => one !== body);
  const missing = keyed.slice(0, mostNamed);
  const details = unknown.map((key) => explainUnknown(endpoint, key, place));
  if (fit.unknown.length > mostNamed) details.push(`And ${fit.unknown.length - mostNamed} more.`);
  if (missing.length > 0) {
    const names = missing.map(({ key, type }) => `"${key}" (${type.display})`);
    details.push(`Missing in ${place}: ${listed(names, keyed.length)}.`);
  }
  if (body !== undefined) details.push(`Missing: a body, which is the parameter "${body.key}" (${body.type.display}).`);
  return new Problem(fit.unknown.length > 0 ? 'unknown-parameter' : 'missing-parameter', {
    detail: details.join(' '),
    members: {
      ...(unknown.length > 0 ? { unknown: unknown.map(truncateKey) } : {}),
      ...(fit.missing.length > 0 ? { missing: fit.missing.slice(0, mostNamed).map(({ key }) => key) } : {}),
    },
  });
}

/** @param count of all, those that are not named among them */
function listed(names: readonly string[], count: number): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `${names.join(', ')}${more}`;
}

function explainUnknown(endpoint: Endpoint, key: string, place: string): string {
  const parameter = endpoint.parameters.find(
    (known) => isNameOf(known, key) || known.fields?.some((field) => isNameOf(field, key)),
  );
  const shown = truncateKey(key);
  if (parameter === undefined) return `"${shown}" in ${place} is no parameter of this endpoint.`;
  if (parameter.injectedValue !== undefined)
    return `"${shown}" is filled with what is known of the caller and may not be given.`;
  if (parameter.inPath) return `"${shown}" stands in the path and may not come from ${place} too.`;
  if (parameter.position === endpoint.bodyParameter)
    return `"${shown}" is the whole body and may not come from ${place}.`;
  return `"${shown}" in ${place} gives the parameter "${parameter.key}" once more.`;
}

function isNameOf(known: { readonly key: string; readonly name: string }, key: string): boolean {
  return known.key === key || known.name === key;
}

export function noMatchingSignature(candidates: readonly Planned[], keys: readonly string[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  const named = keys.slice(0, mostNamed).map((key) => `"${truncateKey(key)}"`);
  const given = keys.length === 0 ? 'no parameters' : listed(named, keys.length);
  return new Problem('no-matching-signature', {
    detail: `None takes exactly ${given}. On offer: ${signatures.join('; ')}.`,
    members: { signatures },
  });
}

export function ambiguousSignature(candidates: readonly Planned[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  return new Problem('ambiguous-signature', {
    detail: `Several take exactly these parameters: ${signatures.join('; ')}. Give one that only one of them has.`,
    members: { signatures },
  });
}
