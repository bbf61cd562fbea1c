import type { ByteSink, ByteSource, GatewayResponse, Handle, WholeResponse } from '../http/response.ts';
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
  const { status, headers, body, isShared = false } = response;
  // A UTF-16 unit has at most three bytes in UTF-8.
  if (body === null || body.length * 3 <= maxWholeBytes) return response;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length <= maxWholeBytes) return response;
  return {
    kind: 'stream',
    status,
    headers: [...headers, 'content-length', String(bytes.length)],
    body: new LargeBody(bytes, { slowClientTimeout, isShared }),
  };
}

class LargeBody implements ByteSource {
  readonly #bytes: Uint8Array;
  readonly #writer: StreamWriter;

  constructor(bytes: Uint8Array, options: StreamWriterOptions) {
    this.#bytes = bytes;
    this.#writer = new StreamWriter(options);
  }

  pipe(sink: ByteSink): void {
    this.#writer.end(this.#bytes);
    this.#writer.open(sink);
  }

  resume(): void {
    this.#writer.resume();
  }

  cancel(): void {
    this.#writer.stop();
  }
}
