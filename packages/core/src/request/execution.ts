import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ByteSource, HeaderList, ReusableMemory } from '../http/response.ts';
import type { Caller } from '../ports/ports.ts';
import type { ExclusiveRunner, Notice, ProvidedRunner, RowSink, Step } from '../postgres/port.ts';
import type { Format } from '../response/format.ts';
import type { HeaderRow } from '../response/response-headers.ts';
import type { ResponseSettings } from '../response/response-settings.ts';
import type { ResponseWriter, SizeLimit } from '../response/response-writer.ts';
import type { ExecutableCall } from './build-query.ts';
import type { ConnectionContext } from './call-connection.ts';
import type { Consistency } from './consistency.ts';
import type { CallGuard } from './idempotency/compile-idempotency.ts';
import type { NoticeEventContext } from './notice-events.ts';
import type { PlanChoices } from './plans/plan-choices.ts';
import type { ReadRouting } from './read-routing.ts';
import type { TraceparentLookup } from './trace-context.ts';

/**
 * The result of a call: its whole body, or a stream that has begun. `headerRow` is null without a header query, `cacheHeaders`
 * unless the body comes from the response cache or goes there, `settingsRow` unless the call may set its response.
 */
export type CallResult = {
  readonly headerRow: Pick<HeaderRow, 'headers' | 'values'> | null;
  readonly cacheHeaders: CacheHeaders | null;
  readonly settingsRow: { readonly settings: ResponseSettings } | null;
} & (
  | {
      readonly kind: 'whole';
      readonly body: Buffer;
      readonly rows: number;
      /** As in `WholeResponse`. */
      readonly memory?: ReusableMemory | null;
    }
  | { readonly kind: 'stream'; readonly body: ByteSource }
);

/** Headers of a cached response: `age`, `cache-control`, `etag`. */
export interface CacheHeaders {
  readonly headers: HeaderList;
  /** Whether the cache made the entity tag, so that it validates the body. */
  readonly validates: boolean;
}

/** Invalidates the cached responses that a call makes obsolete. */
export interface Invalidation {
  /** The step that notifies other instances when the call's transaction commits; null: there is no channel. */
  step(endpoint: Endpoint): Step | null;
  /** Called when the call has succeeded. Never rejects. */
  done(endpoint: Endpoint): void | Promise<void>;
}

export interface ExecutionContext extends NoticeEventContext, ConnectionContext {
  /** Null: plans are not chosen by measurement. */
  readonly plans: PlanChoices | null;
  /** Null: there are no read replicas. */
  readonly readRouting: ReadRouting | null;
  /** Milliseconds without progress after which a stream is aborted. */
  readonly slowClientTimeout: number;
  onNotice(endpoint: Endpoint, notice: Notice): void;
  /** A call has completed, after `elapsedMs` in the database. Null: not observed. */
  readonly onCallCompleted:
    | ((request: GatewayRequest, endpoint: Endpoint, elapsedMs: number, rows: number) => void)
    | null;
  /** A call has left a session setting changed. */
  onSettingLeaked(endpoint: Endpoint, setting: string): void;
  readonly invalidation: Invalidation;
  /** Null: PostgreSQL receives no trace context. */
  readonly traceparent: TraceparentLookup | null;
  /** Whether the transaction of a call continues after it, so that the settings of the call are restored. */
  readonly transactionContinues: boolean;
  /** Whether calls are authorized and do not run: their responses are stored. */
  readonly authorizesRepeated: boolean;
  /** Asks the host for the connection of a request; it resolves to null for a pooled one. Null: the host provides none. */
  readonly provideConnection: ((request: GatewayRequest, endpoint: Endpoint) => Promise<ProvidedRunner | null>) | null;
}

export interface ExecutionInput {
  readonly call: ExecutableCall;
  readonly format: Format;
  readonly request: GatewayRequest;
  /** Null: anonymous. */
  readonly caller?: Caller | null;
  /** Wraps the sink of the rows, to read them before the response writer does. */
  readonly tapRows?: (next: ResponseWriter) => RowSink;
  /** The connection of the call; absent: one that the host provides, or a pooled one. */
  readonly runner?: ExclusiveRunner;
  /** Whether the host provides the connection: its transaction may continue after the call. */
  readonly isHostConnection?: boolean;
  /** Decides in the transaction of the call whether it runs; absent: the request has no idempotency key. */
  readonly guard?: CallGuard;
  /** Whether no replica may run the call: the host may have changed data for it. */
  readonly usesPrimary?: boolean;
  /** The consistency that the request asks for; absent: the call runs on the primary. */
  readonly consistency?: Consistency | null;
  /** As in `Read`. */
  readonly committedBefore?: number;
  /** A response up to this limit is held back until it is whole. */
  readonly holdLimit?: SizeLimit;
  /** Receives the function that cancels the call. Without it, the call is cancelled when its client disconnects. */
  readonly onCancellable?: (cancel: () => void) => void;
}
