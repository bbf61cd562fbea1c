import { groupBy } from '../endpoints/group-by.ts';
import type { StreamDefinition } from './stream.ts';
import type { StreamEndpoint } from './subscriber-authorization.ts';

/** Returns every spelling of the path of a stream: as is, percent-encoded, and with a trailing slash. */
export function pathSpellings(path: string): readonly string[] {
  return [path, encodeURI(path)].flatMap((spelling) => [spelling, `${spelling}/`]);
}

/** Returns the streams by every spelling of their path: as is, percent-encoded, and with a trailing slash. */
export function indexStreams(streamEndpoints: readonly StreamEndpoint[]): ReadonlyMap<string, StreamDefinition> {
  const withEvents = streamEndpoints.filter(({ endpoint }) => endpoint.events !== null);
  const byPath = groupBy(withEvents, ({ endpoint }) => endpoint.events!.path);
  return new Map(
    [...byPath].flatMap(([path, endpoints]) => {
      const definition: StreamDefinition = { path, endpoints };
      return pathSpellings(path).map((spelling) => [spelling, definition] as const);
    }),
  );
}
