/** Limits of connections and requests that have one value. */

/** Milliseconds without traffic after which TCP keep-alive probes a client, which disconnects one that has vanished. */
export const keepAliveInitialDelayMs = 60_000;

/** The maximum number of headers of a request. */
export const maxHeadersCount = 100;

/** Returns the maximum number of characters of a path with its query, which are a part of the request line. */
export function maxUriLength({ maxHeaderSize }: { readonly maxHeaderSize: number }): number {
  return Math.floor(maxHeaderSize / 4);
}
