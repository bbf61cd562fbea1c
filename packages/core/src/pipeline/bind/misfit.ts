import { Problem } from '../../http/problem.ts';
import type { Endpoint } from '../../plan/endpoint.ts';
import type { Given } from '../collect/given.ts';
import type { Fit } from './fit.ts';

interface Planned {
  readonly endpoint: Endpoint;
}

/** The given keys are not those of the endpoint: names each of them. */
export function misfit(fit: Fit<Planned>, source: Given['source']): Problem {
  const { endpoint } = fit.candidate;
  const place = source === 'query' ? 'the query string' : 'the JSON body';
  const details = fit.unknown.map((key) => explainUnknown(endpoint, key, place));
  if (fit.missing.length > 0) {
    const names = fit.missing.map(({ key, type }) => `"${key}" (${type.display})`).join(', ');
    details.push(`Missing in ${place}: ${names}.`);
  }
  return new Problem(fit.unknown.length > 0 ? 'unknown-parameter' : 'missing-parameter', {
    detail: details.join(' '),
    members: {
      ...(fit.unknown.length > 0 ? { unknown: fit.unknown } : {}),
      ...(fit.missing.length > 0 ? { missing: fit.missing.map(({ key }) => key) } : {}),
    },
  });
}

function explainUnknown(endpoint: Endpoint, key: string, place: string): string {
  const parameter = endpoint.parameters.find((known) => known.key === key || known.name === key);
  if (parameter === undefined) return `"${key}" in ${place} is no parameter of this endpoint.`;
  if (parameter.inPath) return `"${key}" stands in the path and may not come from ${place} too.`;
  if (parameter.position === endpoint.bodyParameter)
    return `"${key}" is the whole body and may not come from ${place}.`;
  return `"${key}" in ${place} gives the parameter "${parameter.key}" once more.`;
}

export function noneFits(candidates: readonly Planned[], keys: readonly string[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  const given = keys.length === 0 ? 'no parameters' : keys.map((key) => `"${key}"`).join(', ');
  return new Problem('no-matching-signature', {
    detail: `None takes exactly ${given}. On offer: ${signatures.join('; ')}.`,
    members: { signatures },
  });
}

export function severalFit(candidates: readonly Planned[]): Problem {
  const signatures = candidates.map(({ endpoint }) => endpoint.id);
  return new Problem('ambiguous-signature', {
    detail: `Several take exactly these parameters: ${signatures.join('; ')}. Give one that only one of them has.`,
    members: { signatures },
  });
}
