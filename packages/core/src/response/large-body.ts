import type { ByteSink, ByteSource, GatewayResponse, Handle, ReusableMemory, WholeResponse } from '../http/response.ts';
import { maxWholeBytes } from './response-writer.ts';
import { StreamWriter, type StreamWriterOptions } from './stream-writer.ts';

/** Wraps a handler so that large whole bodies are sent with back-pressure and the timeout for slow clients. */
export function deliverLargeBodies(handle: Handle, slowClientTimeout: number): Handle {
  return async (request) => {
    const response = await handle(request);
    return response?.kind === 'whole' ? toStream(response, slowClientTimeout) : response;
  };
}

function toStream(response: WholeResponse, slowClientTimeout: number): GatewayResponse {
  const { status, headers, body, memory = null, isShared = false } = response;
  // A UTF-16 unit has at most three bytes in UTF-8.
  if (body === null || body.length * 3 <= maxWholeBytes) return response;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length <= maxWholeBytes) return response;
  return {
    kind: 'stream',
    status,
    headers: [...headers, 'content-length', String(bytes.length)],
    body: new LargeBody(bytes, memory, { slowClientTimeout, isShared }),
  };
}

class LargeBody implements ByteSource {
  readonly #bytes: Uint8Array;
  readonly #memory: ReusableMemory | null;
  readonly #writer: StreamWriter;

  constructor(bytes: Uint8Array, memory: ReusableMemory | null, options: StreamWriterOptions) {
    this.#bytes = bytes;
    this.#memory = memory;
    this.#writer = new StreamWriter(options);
  }

  pipe(sink: ByteSink): void {
    this.#writer.end(this.#bytes, this.#memory);
    this.#writer.open(sink);
  }

  resume(): void {
    this.#writer.resume();
  }

  cancel(): void {
    this.#writer.stop();
  }
}
