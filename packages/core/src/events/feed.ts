import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Caller } from '../ports/ports.ts';

/** A stream whose events come from elsewhere than calls and notifications. Each subscriber has its own. */
export interface Feed {
  /** The path of the stream. */
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly request: GatewayRequest;
  /** Null: anonymous. */
  readonly caller: Caller | null;
  /** Returns the bytes that keep the connection alive. */
  readonly heartbeat: () => Uint8Array;
  /**
   * Returns whether the request still has the caller and the rights that it was opened with.
   * @throws Problem 401, 403
   */
  readonly reauthorize: () => Promise<boolean>;
  /** Called once, at the end of the stream. */
  readonly closed: () => void;
}
