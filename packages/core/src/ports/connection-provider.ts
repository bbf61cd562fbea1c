import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HostClient } from '../postgres/port.ts';

/** A connection that the host program provides for one request. */
export interface ProvidedConnection {
  /**
   * A connected `pg` client. The call joins the transaction that may be open on it. Settings of the call end with the call; an error
   * of the call aborts the transaction.
   */
  readonly client: HostClient;
  /** Called once after the request; with an error if the connection is lost. */
  readonly release?: (error?: Error) => void;
}

/** Provides the connection for a request. With null or undefined the gateway takes one from its pool. An error fails the request. */
export interface ConnectionProvider {
  (
    request: GatewayRequest,
    endpoint: Endpoint,
  ): ProvidedConnection | null | undefined | Promise<ProvidedConnection | null | undefined>;
  /**
   * Whether an error of a call leaves the transaction as it was before, as with a savepoint for each call. Only such connections can store
   * idempotency keys: a repeated key is an error. Absent: false.
   */
  readonly isolatesCalls?: boolean;
}
