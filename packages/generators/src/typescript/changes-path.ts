import type { Endpoint } from '@pgway/core';

/** Returns the path of the stream of row changes that the client reads; null without one, and for rows that are not objects. */
export function changesPath({ changes, typedClient, result }: Endpoint): string | null {
  return changes === undefined || typedClient.events === false || result.kind !== 'objects' ? null : changes.path;
}
