import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { nearestName } from '../../validation/suggestion.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { fromComment } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';
import { fromOptions } from '../origin.ts';

/** A policy of null: the endpoint has no rate limit. */
interface Choice {
  readonly policy: string | null;
}

/** An unknown policy is an error: the endpoint would be published with another limit, or none. */
function parse({ text }: ParsedAnnotation, { options }: EndpointBuilder): ParsedValue<Choice> | AnnotationError {
  if (text.toLowerCase() === 'none' || parseBoolean(text) === false) return { value: { policy: null } };
  const names = Object.keys(options.rateLimits.policies);
  if (names.includes(text)) return { value: { policy: text } };
  return { code: 'unknown-policy', message: unknownMessage(text, names) };
}

function unknownMessage(text: string, names: readonly string[]): string {
  if (names.length === 0) return `no rate limit is named ${display(text)}; define it in rateLimits.policies`;
  const near = nearestName(text, names);
  const hint = near === null ? '' : `; did you mean ${display(near)}?`;
  return `no rate limit is named ${display(text)}; the rate limits are ${names.map(display).join(', ')}, and none${hint}`;
}

export const rateLimit: MemberAnnotation<'rateLimit', Choice> = memberAnnotation({
  key: 'rateLimit',
  effect: ({ policy }) => `sets rateLimit to ${policy ?? 'none'}`,
  names: ['rate_limit', 'rate_limiter', 'rate_limiter_policy', 'rate_limiter_policy_name'],
  syntax: ['rate_limit <policy>', 'rate_limit none', 'rate_limit = <policy>'],
  documentation:
    'The policy of `rateLimits.policies` that limits the requests of the endpoint, in place of `rateLimits.defaultPolicy`. Endpoints with one policy count together. `none`: requests are not limited.',
  isGuard: true,
  parse,
  member: 'rateLimit',
  resolve: (builder) => {
    const written = builder.get(rateLimit);
    if (written !== null) return fromComment(builder, rateLimit, written.policy);
    return fromOptions(builder.options, 'rateLimits.defaultPolicy', ({ rateLimits }) => rateLimits.defaultPolicy);
  },
  explained: { name: 'rateLimit', show: (endpoint) => endpoint.rateLimit ?? 'none' },
});
