/** Explanations of endpoints for readers: selection, text for terminals, JSON. */
import { nearestName } from '../validation/suggestion.ts';
import { escapeControlCharacters } from '../validation/escape.ts';
import type { EndpointExplanation } from '../endpoints/explanation.ts';
import { explanationLines } from './explanation-text.ts';

export type { EndpointExplanation };

/**
 * Returns the explanations that match the filter, in order. Without a filter, routines without an endpoint are left out unless they have
 * a problem.
 * @param filter a part of the signature, the qualified name, or method and path; null: none
 * @param isAll whether every routine is returned when there is no filter
 */
export function selectExplanations(
  explanations: readonly EndpointExplanation[],
  filter: string | null,
  isAll: boolean,
): readonly EndpointExplanation[] {
  const selected = explanations.filter((explanation) => {
    if (filter !== null) return matches(explanation, filter.toLowerCase());
    return (
      isAll || explanation.endpoint !== null || explanation.diagnostics.some(({ severity }) => severity !== 'info')
    );
  });
  return selected.toSorted((left, right) => compare(sortKey(left), sortKey(right)));
}

function matches({ routine, schema, name, endpoint }: EndpointExplanation, filter: string): boolean {
  const texts = [routine, `${schema}.${name}`, ...(endpoint === null ? [] : [`${endpoint.method} ${endpoint.path}`])];
  return texts.some((text) => text.toLowerCase().includes(filter));
}

/** Endpoints by path and method, then the other routines by name. */
function sortKey({ endpoint, routine }: EndpointExplanation): string {
  return endpoint === null ? `1 ${routine}` : `0 ${endpoint.path} ${endpoint.method} ${routine}`;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the name or path that is most similar to a filter without a match, or null. */
export function nearestExplanation(explanations: readonly EndpointExplanation[], filter: string): string | null {
  const candidates = explanations.flatMap(({ schema, name, endpoint }) => [
    name,
    `${schema}.${name}`,
    ...(endpoint === null ? [] : [endpoint.path]),
  ]);
  return nearestName(filter, [...new Set(candidates)]);
}

export function hasError({ diagnostics }: EndpointExplanation): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/**
 * Returns a paragraph for each explanation: a table of label, value and reason.
 * @param columns those of the terminal; infinite when the output is not one
 */
export function explanationsText(explanations: readonly EndpointExplanation[], columns: number): string {
  return explanations.map((explanation) => `${explanationLines(explanation, columns).join('\n')}\n`).join('\n');
}

/** Returns the explanations as JSON, with masked password hashes. Characters that terminals interpret are escapes. */
export function explanationsJson(explanations: readonly EndpointExplanation[]): string {
  const masked = explanations.map((explanation) => ({ ...explanation, endpoint: maskHash(explanation.endpoint) }));
  return `${JSON.stringify(masked, undefined, 2).split('\n').map(escapeControlCharacters).join('\n')}\n`;
}

function maskHash(endpoint: EndpointExplanation['endpoint']): EndpointExplanation['endpoint'] {
  const basic = endpoint?.basicAuthentication ?? null;
  if (endpoint === null || basic === null || basic.hash === null) return endpoint;
  return { ...endpoint, basicAuthentication: { ...basic, hash: '***' } };
}
