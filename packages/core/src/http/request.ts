/**
 * A request, as adapters make it for each call of their host. Its members are lazy, so that a request computes only those that
 * its endpoint reads.
 */
export interface GatewayRequest {
  /** The correlation id in log lines and responses: a safe `X-Request-Id`, else a generated id. */
  readonly id: string;
  /** The request of the host: an `IncomingMessage` (`node:http`, Express, Fastify) or a `Request` (fetch), if the adapter has one. */
  readonly raw?: object;
  /** Upper case. */
  readonly method: string;
  /** The path as sent: percent-encoded, with its leading slash, without the query. */
  readonly path: string;
  /** The query string as sent, without the question mark; empty without one. */
  readonly query: string;
  /**
   * The connection of the client if it carries several requests at a time, as in HTTP/2. Absent behind a trusted proxy, whose connections carry
   * those of many clients.
   */
  readonly connection?: object | undefined;
  /** The peer address of the connection, if the host knows it. */
  readonly remoteAddress: string | undefined;
  /** Whether the client's connection is encrypted, if the host knows it. */
  readonly secure: boolean;
  /** The value of a header by its lower-case name; a repeated header's values are joined by `, `. `host`: also the authority of HTTP/2. */
  header(name: string): string | undefined;
  /** All headers in order of arrival, names as sent. */
  headers(): readonly (readonly [name: string, value: string])[];
  /**
   * Reads the whole body.
   * @param limit the maximum size, in bytes
   * @throws Problem `body-too-large` (413) past the limit, before the rest is buffered
   */
  body(limit: number): Promise<Uint8Array>;
  /**
   * Returns the body as a stream of chunks. While the reader is slow, the sender has to wait (back-pressure). Ending the iteration
   * early leaves the rest of the body unread.
   * @throws Problem `internal` when the host has read the body before the gateway. The iteration throws Problem `malformed-body`
   * when the client disconnects before the end.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Calls the listener once if the client disconnects before its response is complete. */
  onDisconnect(listener: () => void): void;
  /** Receives the events that the call of this request raises, if its caller may receive them. Absent: only event streams do. */
  readonly onEvent?: (message: string) => void;
}
