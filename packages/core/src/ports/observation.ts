/** Events of a gateway for logs and metrics. */
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Notice, Value } from '../postgres/port.ts';
import type { Caller } from './caller.ts';

/** The result of the checks of a file. Every value but `Ok` refuses it. */
export type UploadStatus =
  | 'Ok'
  | 'Empty'
  | 'ProbablyBinary'
  | 'NoNewLines'
  | 'InvalidImage'
  | 'InvalidMimeType'
  | 'InvalidFormat'
  | 'Ignored';

/** An event for logs and metrics. */
export type Observation =
  | { readonly kind: 'endpoint-created'; readonly endpoint: Endpoint }
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  /** A questionable condition at start or refresh; `code` is stable, such as `privileged-role`. */
  | { readonly kind: 'start-warning'; readonly code: string; readonly message: string }
  /** A connection could not be opened, or was lost; no request need be affected. A null `connection` is the main one. */
  | { readonly kind: 'connection-failed'; readonly connection: string | null; readonly error: Error }
  /** The routine or table of an endpoint was changed or dropped after the last refresh. A refresh follows. */
  | { readonly kind: 'endpoint-stale'; readonly endpoint: Endpoint; readonly error: Error }
  /** An automatic refresh failed: the old endpoints stay. */
  | { readonly kind: 'refresh-failed'; readonly error: Error }
  /** The cache fails: requests continue without it. */
  | { readonly kind: 'cache-unavailable'; readonly error: Error }
  /** The cache works again. */
  | { readonly kind: 'cache-available' }
  /** The store of rate limits fails. Until it works again, requests are not limited (`allowed`) or get a 503 (`refused`). */
  | {
      readonly kind: 'rate-limits-unavailable';
      readonly error: Error;
      readonly requests: 'allowed' | 'refused';
    }
  /** The store of rate limits works again. */
  | { readonly kind: 'rate-limits-available' }
  /** A scheme has rejected the token of a request: the response is 401, unless another scheme authenticates the caller. */
  | {
      readonly kind: 'token-refused';
      readonly request: GatewayRequest;
      readonly scheme: string;
      readonly reason: string;
    }
  /** A service that authentication needs fails; callers may be treated as anonymous. */
  | { readonly kind: 'authentication-error'; readonly error: Error }
  | { readonly kind: 'notice'; readonly endpoint: Endpoint; readonly notice: Notice }
  /** A routine has changed a session setting beyond its transaction. The connection is closed, to protect the next caller. */
  | { readonly kind: 'setting-leaked'; readonly endpoint: Endpoint; readonly setting: string }
  /** The hint of an event names no valid scope: the event uses the scope of the endpoint. */
  | { readonly kind: 'unknown-hint'; readonly endpoint: Endpoint; readonly hint: string }
  /** A stream was closed because its client reads too slowly. */
  | { readonly kind: 'stream-dropped'; readonly path: string }
  /** Broadcast messages that this instance cannot decrypt were dropped. */
  | { readonly kind: 'broadcast-messages-rejected'; readonly count: number }
  /** The other instances cannot be reached. */
  | { readonly kind: 'broadcast-unavailable'; readonly error: Error }
  /** The other instances can be reached again. */
  | { readonly kind: 'broadcast-available' }
  /** A handler has received a file. `size` in bytes; any status but `Ok` refuses the file. */
  | {
      readonly kind: 'upload';
      readonly endpoint: Endpoint;
      readonly request: GatewayRequest;
      readonly handler: string;
      readonly fileName: string;
      readonly contentType: string;
      readonly size: number;
      readonly status: UploadStatus;
    }
  /** A callback of an upload handler has failed: a stored file may remain, or a replaced one. */
  | { readonly kind: 'upload-cleanup-failed'; readonly endpoint: Endpoint; readonly error: Error }
  /** A command that is about to run; only with `logCommands`. */
  | {
      readonly kind: 'command';
      readonly endpoint: Endpoint;
      readonly request: GatewayRequest;
      readonly sql: string;
      readonly parameters: readonly { readonly name: string; readonly value: Value }[];
    }
  /**
   * The gateway has the response to a request, or none (404); a stream begins. `caller` is null if anonymous or unknown. `path` has no
   * secrets. `route` is the configured path, such as `/books/{_id}`; null: there is none. Only with `observeRequests`.
   */
  | {
      readonly kind: 'request-handled';
      readonly request: GatewayRequest;
      readonly endpoint: Endpoint | null;
      readonly caller: Caller | null;
      readonly path: string;
      readonly route: string | null;
      readonly isEventStream: boolean;
    }
  /**
   * The call of a request has completed in the database, after `milliseconds` there. `rows`: of the response. Only with
   * `observeRequests`.
   */
  | {
      readonly kind: 'call-completed';
      readonly request: GatewayRequest;
      readonly endpoint: Endpoint;
      readonly milliseconds: number;
      readonly rows: number;
    }
  | {
      readonly kind: 'request-failed';
      readonly request: GatewayRequest;
      /** Null when the request failed before its endpoint was selected. */
      readonly endpoint: Endpoint | null;
      readonly status: number;
      /** The id of the request, as in the response; null for a client error. */
      readonly correlationId: string | null;
      readonly error: Error;
    };

export type Observer = (observation: Observation) => void;
