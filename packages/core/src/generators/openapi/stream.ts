import type { Endpoint } from '../../endpoints/endpoint.ts';
import { numberedName } from '../naming.ts';
import { plainLine } from '../text.ts';
import { problemResponse } from './components.ts';
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
  const ids = new Set<string>();
  return [...byPath].map(([path, endpoint]) => {
    // No other operation has an underscore within its id.
    const wanted = `stream${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
    const id = ids.has(wanted) ? numberedName(`${wanted}_`, (one) => ids.has(one)) : wanted;
    ids.add(id);
    return [path, { get: streamOf(id, endpoint, securityOf(endpoint)) }];
  });
}

function streamOf(id: string, endpoint: Endpoint, security: Schema): Schema {
  return {
    operationId: id,
    tags: [endpoint.schema],
    summary: plainLine(`Messages of ${endpoint.id}`),
    description:
      'Server-sent events. The query is the execution id that a call sends as X-Gateway-ID, where only its own messages are wanted.',
    responses: {
      200: {
        description: 'Messages, as they are raised',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      '4XX': problemResponse,
      default: problemResponse,
    },
    ...security,
  };
}
