import type { Endpoint } from '../../../plan/endpoint.ts';
import { plainLine } from '../text.ts';
import type { Schema } from './schema.ts';

/** The streams of what endpoints raise, by path: each is an operation of its own. */
export function streamsOf(
  endpoints: readonly Endpoint[],
  securityOf: (endpoint: Endpoint) => Schema,
): readonly (readonly [path: string, item: Schema])[] {
  const byPath = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (endpoint.events !== null && !byPath.has(endpoint.events.path)) byPath.set(endpoint.events.path, endpoint);
  }
  return [...byPath].map(([path, endpoint]) => [path, { get: streamOf(path, endpoint, securityOf(endpoint)) }]);
}

function streamOf(path: string, endpoint: Endpoint, security: Schema): Schema {
  return {
    operationId: `stream${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`,
    tags: [endpoint.schema],
    summary: plainLine(`Messages of ${endpoint.id}`),
    description:
      'Server-sent events. The query is the execution id that a call sends as X-Gateway-ID, where only its own messages are wanted.',
    responses: {
      200: {
        description: 'Messages, as they are raised',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
    ...security,
  };
}
