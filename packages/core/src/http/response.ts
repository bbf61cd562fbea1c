import type { GatewayRequest } from './request.ts';

/** Alternating names and values, names in lower case: `node:http` takes this form without a copy. */
export type HeaderList = readonly string[];

/** Set on every response: browsers must not guess its media type (https://fetch.spec.whatwg.org/#x-content-type-options-header). */
export const nosniffHeader = ['x-content-type-options', 'nosniff'] as const;

/** Options of all adapters. */
export interface AdapterOptions {
  /** Whether responses have an `X-Request-Id`, which log lines have too. */
  readonly requestIdHeader: boolean;
}

/**
 * The memory behind bytes of a response, for use by another response. An adapter releases it after the bytes have left the process, and only
 * if no other code can have kept them. Without a release, the garbage collector frees the memory.
 */
export interface ReusableMemory {
  /** Does nothing the second time. */
  release(): void;
}

/** The consumer of a byte stream. */
export interface ByteSink {
  /** Takes a chunk. False asks the source to pause until its `resume` is called. */
  write(chunk: Uint8Array, memory?: ReusableMemory | null): boolean;
  /** Ends a complete stream with its last chunk. */
  end(chunk: Uint8Array, memory?: ReusableMemory | null): void;
  /** Ends an incomplete stream: the connection must be aborted, so that the client does not take the response as complete. */
  fail(error: Error): void;
}

/** A byte stream of unknown length, with back-pressure. */
export interface ByteSource {
  /** Starts the stream. Called once. */
  pipe(sink: ByteSink): void;
  /** Continues after the sink has asked for a pause. */
  resume(): void;
  /** Abandons the stream, and cancels the call behind it. */
  cancel(): void;
}

/** Statuses whose responses have no body (RFC 9110, 15.3.5, 15.3.6, 15.4.5). */
export const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

export interface WholeResponse {
  readonly kind: 'whole';
  readonly status: number;
  readonly headers: HeaderList;
  /** Null: no body and no `Content-Length` (204, 205, HEAD). */
  readonly body: Uint8Array | string | null;
  /** The memory behind the body; absent or null: other code may use the body too. */
  readonly memory?: ReusableMemory | null;
  /** Whether a cache holds the body too. */
  readonly isShared?: boolean;
  /** Whether the host's own handlers should run first: the gateway has other methods at this path. */
  readonly isFallback?: boolean;
}

export interface StreamResponse {
  readonly kind: 'stream';
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: ByteSource;
}

export type GatewayResponse = WholeResponse | StreamResponse;

/**
 * The gateway as one function. `undefined`: it has no endpoint for the path, and the host continues with its own handlers.
 */
export type Handle = (request: GatewayRequest) => Promise<GatewayResponse | undefined>;

type MaybeStream = { readonly kind: 'whole' } | { readonly kind: 'stream'; readonly body: ByteSource };

/** Calls `use`, and cancels the stream of a response if that throws: its call would wait for a reader forever. */
export function cancelOnThrow<Result>(response: MaybeStream, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (response.kind === 'stream') response.body.cancel();
    throw error;
  }
}
