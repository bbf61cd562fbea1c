/**
 * The part of a WHATWG `Request` that the gateway uses. An adapter makes one for each call of its host; everything in
 * it is lazy, so that what an endpoint does not need is never computed.
 */
export interface GatewayRequest {
  /** By which log lines and answers of this request are found: its `X-Request-Id` where that is safe, else an id of our own. */
  readonly id: string;
  /** Upper case. */
  readonly method: string;
  /** As sent: percent-encoded, with its leading slash, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** The address of the peer of the connection, when the host knows it. */
  readonly remoteAddress: string | undefined;
  /** Whether the client's connection is encrypted, when the host knows it. */
  readonly secure: boolean;
  /** The value of a header by its lower-case name; a repeated header's values are joined by `, `. */
  header(name: string): string | undefined;
  /** All headers in order of arrival, names as sent. */
  headers(): readonly (readonly [name: string, value: string])[];
  /**
   * The whole body.
   * @param limit the most bytes that are read
   * @throws Problem `body-too-large` (413) past the limit, before the rest is buffered
   */
  body(limit: number): Promise<Uint8Array>;
  /** Calls the listener once when the client leaves before its answer is complete. */
  onDisconnect(listener: () => void): void;
}
