import type { Endpoint } from '@pgway/core';
import type { JsonSchema } from './schema.ts';

const isLimited = ({ rateLimit }: Endpoint): boolean => rateLimit !== null;

const headerNames = ['RateLimit-Policy', 'RateLimit'];

const toReferences = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Returns the headers of the responses of limited endpoints. */
export function rateLimitHeaders(endpoint: Endpoint): JsonSchema {
  return isLimited(endpoint) ? toReferences(headerNames) : {};
}

/** Returns the 429 of limited endpoints. */
export function rateLimitProblems(endpoints: readonly Endpoint[]): JsonSchema {
  return endpoints.some(isLimited) ? { 429: { $ref: '#/components/responses/TooManyRequests' } } : {};
}

/** The components of the headers and of the 429. */
interface RateLimitComponents {
  readonly headers: JsonSchema;
  readonly responses: JsonSchema;
}

/** Returns the components that limited endpoints use; null without such an endpoint. */
export function rateLimitComponents(endpoints: readonly Endpoint[]): RateLimitComponents | null {
  if (!endpoints.some(isLimited)) return null;
  const text = { type: 'string' };
  return {
    headers: {
      'RateLimit-Policy': { description: 'The rate limit: `"name";q=<requests>;w=<seconds>`.', schema: text },
      RateLimit: {
        description: 'The requests left, and the seconds until there are more: `"name";r=1;t=30`.',
        schema: text,
      },
      'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
    },
    responses: {
      TooManyRequests: {
        description: 'The rate limit refuses the request',
        headers: toReferences(['Retry-After', ...headerNames]),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}
