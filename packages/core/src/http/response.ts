import type { GatewayRequest } from './request.ts';

/** Names and values one after the other, names in lower case: the form that `node:http` takes without a copy. */
export type HeaderList = readonly string[];

/** Every answer has it: browsers must not take an answer for another media type than it says (https://fetch.spec.whatwg.org/#x-content-type-options-header). */
export const nosniffHeader = ['x-content-type-options', 'nosniff'] as const;

/** What an adapter adds to answers. */
export interface AdapterOptions {
  /** Every answer has an `X-Request-Id`, by which its log lines are found. */
  readonly requestIdHeader: boolean;
}

/** Where the bytes of a stream go. One consumer, chunks in order. */
export interface ByteSink {
  /** Takes a chunk. False asks the source to pause until its `resume` is called. */
  write(chunk: Uint8Array): boolean;
  /** The last call of a stream that went well, with its last chunk. */
  end(chunk: Uint8Array): void;
  /** The last call of a stream that broke: the answer must be cut off, so that nobody takes it for a whole one. */
  fail(error: Error): void;
}

/** An answer of unknown length, pushed as it comes from the database, at the pace of its reader. */
export interface ByteSource {
  /** Starts the flow; called once. */
  pipe(sink: ByteSink): void;
  /** The sink can take more. */
  resume(): void;
  /** Nobody reads any more: stops the work behind the stream. */
  cancel(): void;
}

/** Statuses whose responses have no body (RFC 9110, 15.3.5, 15.3.6, 15.4.5). */
export const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/** A whole answer. */
export interface WholeResponse {
  readonly kind: 'whole';
  readonly status: number;
  readonly headers: HeaderList;
  /** Null: no body and no length (204, 205, HEAD). */
  readonly body: Uint8Array | string | null;
  /** The body is kept for other requests too. */
  readonly isShared?: boolean;
  /** A host's own handlers may answer instead: the path is ours, the method is not. */
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
 * The gateway as one function. `undefined` means that the request is not ours: the host goes on with its own handlers.
 */
export type Handle = (request: GatewayRequest) => Promise<GatewayResponse | undefined>;

type MaybeStream = { readonly kind: 'whole' } | { readonly kind: 'stream'; readonly body: ByteSource };

/** Returns what `use` makes of an answer. Where that throws, a stream is cancelled: nothing would read it, and its call would wait. */
export function cancelOnThrow<Result>(answer: MaybeStream, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (answer.kind === 'stream') answer.body.cancel();
    throw error;
  }
}
