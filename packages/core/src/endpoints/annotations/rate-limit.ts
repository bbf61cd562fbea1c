import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { nearestName } from '../../validation/suggestion.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** An unknown policy is an error: the endpoint would be published with another limit, or none. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const { text } = parsed;
  if (text.toLowerCase() === 'none' || parseBoolean(text) === false) {
    builder.set(parsed, 'rateLimit', { policy: null });
    return null;
  }
  const names = Object.keys(builder.options.rateLimits.policies);
  if (!names.includes(text)) return { code: 'unknown-policy', message: unknownMessage(text, names) };
  builder.set(parsed, 'rateLimit', { policy: text });
  return null;
}

function unknownMessage(text: string, names: readonly string[]): string {
  if (names.length === 0) return `no rate limit is named ${display(text)}; define it in rateLimits.policies`;
  const near = nearestName(text, names);
  const hint = near === null ? '' : `; did you mean ${display(near)}?`;
  return `no rate limit is named ${display(text)}; the rate limits are ${names.map(display).join(', ')}, and none${hint}`;
}

export const rateLimit: Annotation = {
  names: ['rate_limit', 'rate_limiter', 'rate_limiter_policy', 'rate_limiter_policy_name'],
  syntax: ['rate_limit <policy>', 'rate_limit none', 'rate_limit = <policy>'],
  documentation:
    'The policy of `rateLimits.policies` that limits the requests of the endpoint, in place of `rateLimits.defaultPolicy`. Endpoints with one policy count together. `none`: requests are not limited.',
  isGuard: true,
  apply,
};
