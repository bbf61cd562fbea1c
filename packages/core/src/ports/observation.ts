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

type Event =
  /** The endpoints of a start or refresh are known; an `endpoint-created` for each of them follows. */
  | { readonly kind: 'endpoints-created'; readonly count: number }
  /** `count` is the number of endpoints of the same start or refresh. */
  | { readonly kind: 'endpoint-created'; readonly endpoint: Endpoint; readonly count: number }
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  /** A questionable condition at start or refresh; `code` is stable, such as `privileged-role`. */
  | { readonly kind: 'start-warning'; readonly code: string; readonly message: string }
  /** A connection could not be opened, or was lost; no request need be affected. A null `connection` is the main one. */
  | { readonly kind: 'connection-failed'; readonly connection: string | null; readonly error: Error }
  /** The log of the database, which streams of changes need, is read: for the first time or again. */
  | { readonly kind: 'changes-available' }
  /** The log cannot be read; streams of changes respond 503. The reason says what to do, if that is known. */
  | { readonly kind: 'changes-unavailable'; readonly error: Error; readonly reason: string }
  /** A WebSocket is closed after an unexpected error, or messages of the database cannot be read. */
  | { readonly kind: 'realtime-failed'; readonly error: Error }
  /** A read replica (`host:port`) gets no calls, for a reason: it lags, cannot be reached, was promoted. Reads run elsewhere. */
  | { readonly kind: 'replica-unusable'; readonly replica: string; readonly reason: string }
  /** A read replica gets calls, for the first time or again. */
  | { readonly kind: 'replica-usable'; readonly replica: string }
  /** A replica has refused the call of a routine that only reads, by its declaration. Its calls run on the primary from now on. */
  | {
      readonly kind: 'read-refused';
      readonly endpoint: Endpoint;
      readonly replica: string;
      readonly error: Error;
    }
  /** The routine or table of an endpoint was changed or dropped after the last refresh. A refresh follows. */
  | { readonly kind: 'endpoint-stale'; readonly endpoint: Endpoint; readonly error: Error }
  /** The database of a tenant cannot be used: its requests get a 503. It is tried again after `retryMs` milliseconds. */
  | { readonly kind: 'tenant-unavailable'; readonly error: Error; readonly retryMs: number }
  /** The list of tenants could not be read: the old one stays. */
  | { readonly kind: 'tenants-not-read'; readonly error: Error }
  /** An automatic refresh failed: the old endpoints stay. */
  | { readonly kind: 'refresh-failed'; readonly error: Error }
  /** Expired idempotency keys could not be deleted; the next attempt follows after an interval. */
  | { readonly kind: 'idempotency-keys-not-pruned'; readonly error: Error }
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
  /**
   * A sign-in through a provider has completed, was refused (by the user, the provider, the command, or as not started in this browser),
   * or has failed at the provider.
   */
  | {
      readonly kind: 'external-sign-in';
      readonly request: GatewayRequest;
      readonly provider: string;
      readonly action: 'sign-in' | 'link' | 'unlink' | 'sign-out';
      readonly outcome: 'succeeded' | 'refused' | 'failed';
      /** Null for a success. */
      readonly reason: string | null;
    }
  /** A service that authentication needs fails; callers may be treated as anonymous. */
  | { readonly kind: 'authentication-error'; readonly error: Error }
  /** A notice of a call: at most ten of each text, and 1,000 in total. One more notice reports that further ones are omitted. */
  | { readonly kind: 'notice'; readonly endpoint: Endpoint; readonly notice: Notice }
  /** A routine has changed a session setting beyond its transaction. The connection is closed, to protect the next caller. */
  | { readonly kind: 'setting-leaked'; readonly endpoint: Endpoint; readonly setting: string }
  /** A call runs again: PostgreSQL has rolled it back for a serialization failure or a deadlock. */
  | { readonly kind: 'call-repeated'; readonly endpoint: Endpoint; readonly code: string; readonly repetition: number }
  /** The hint of an event names no valid scope: the event uses the scope of the endpoint. */
  | { readonly kind: 'unknown-hint'; readonly endpoint: Endpoint; readonly hint: string }
  /** The member `info_scope` of a notification is not a scope: no subscriber receives the event. */
  | { readonly kind: 'unknown-receivers'; readonly endpoint: Endpoint; readonly scope: string }
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
   * The gateway has handled a request: its response is ready, its stream begins, or it has no endpoint (404). `caller` is null if anonymous or unknown. `path` has no
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
   * `observeRequests`. In a batch, `request` is the one of the batch that made the call, with the `id` and `raw` of the batch.
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

/** An event for logs and metrics. */
export type Observation = Event & {
  /** The tenant; absent without tenants. */
  readonly tenant?: string;
};

export type Observer = (observation: Observation) => void;
