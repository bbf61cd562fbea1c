import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ReusableMemory } from '../http/response.ts';

/** As properties: the methods are compared here, not called. */
interface ChunkMethods {
  readonly write: object;
  readonly end: object;
}

/**
 * Methods that keep no chunk after their callback. A host may replace the method of a response, a class or a socket by one that does, such as
 * to log bodies or to record them for a test.
 */
const trustedMethods = new WeakSet<object>();

/**
 * Lets responses of a class give the memory of their bodies back. Its `write` and `end` must not keep chunks, and `write` followed by `end`
 * must be the same as `end` with the chunk.
 */
export function allowBufferReuse({ prototype }: { readonly prototype: ChunkMethods }): void {
  trustedMethods.add(prototype.write);
  trustedMethods.add(prototype.end);
}

allowBufferReuse(ServerResponse);
allowBufferReuse(Socket);

/**
 * Whether nothing is between the adapter and the network that can keep a chunk, or that depends on how the body is divided among calls of
 * `write` and `end`. HTTP/2 and simulated requests have methods of their own.
 */
function isDirect(outgoing: ServerResponse): boolean {
  return isTrusted(outgoing) && outgoing.req.socket instanceof Socket && isTrusted(outgoing.req.socket);
}

function isTrusted({ write, end }: ChunkMethods): boolean {
  return trustedMethods.has(write) && trustedMethods.has(end);
}

/** The writes to one response. They release the memory of each chunk after the callback of its write, if nothing else can have kept it. */
export class ResponseOutput {
  readonly #outgoing: ServerResponse;
  readonly #reusesBuffers: boolean;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    this.#reusesBuffers = isDirect(outgoing);
  }

  write(chunk: Uint8Array, memory: ReusableMemory | null = null): boolean {
    if (memory === null || !this.#reusesBuffers) return this.#outgoing.write(chunk);
    return this.#outgoing.write(chunk, (error) => releaseUnlessFailed(memory, error));
  }

  end(chunk: Uint8Array | string, memory: ReusableMemory | null = null): void {
    if (memory === null || !this.#reusesBuffers) this.#outgoing.end(chunk);
    else this.#outgoing.end(chunk, (error?: Error | null) => releaseUnlessFailed(memory, error));
  }
}

/**
 * Sends the headers of a response, which are not sent yet, and its body in one write. Node's `end(body)` adds an empty chunk, and several
 * chunks take a slower way through the socket, which costs a sixth of the CPU of a short response.
 *
 * @param body a character for each byte
 */
export function endInOneWrite(outgoing: ServerResponse, body: string): void {
  const { socket } = outgoing;
  // Without a socket, the response waits for an earlier one to a pipelining client.
  if (socket === null || !isDirect(outgoing)) {
    outgoing.end(body, 'latin1');
    return;
  }
  // Otherwise Node delays the write to the next tick, after the end.
  socket.cork();
  outgoing.write(body, 'latin1');
  socket.uncork();
  outgoing.end();
}

/** After an error, the operating system may still read the chunk. */
function releaseUnlessFailed(memory: ReusableMemory, error: Error | null | undefined): void {
  if (error === null || error === undefined) memory.release();
}
