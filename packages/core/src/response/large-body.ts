import type { ByteSink, ByteSource, GatewayResponse, Handle, WholeResponse } from '../http/response.ts';
import { maxWholeBytes } from './response-writer.ts';
import { StreamWriter, type StreamWriterOptions } from './stream-writer.ts';

/** Large answers in one piece leave at the pace of their reader too, who may not keep them in memory by taking nothing. */
export function deliverLargeBodies(handle: Handle, slowClientTimeout: number): Handle {
  return async (request) => {
    const response = await handle(request);
    return response?.kind === 'whole' ? delivered(response, slowClientTimeout) : response;
  };
}

function delivered(response: WholeResponse, slowClientTimeout: number): GatewayResponse {
  const { status, headers, body, isShared = false } = response;
  // A character is at most three bytes.
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
  readonly #delivery: StreamWriter;

  constructor(bytes: Uint8Array, options: StreamWriterOptions) {
    this.#bytes = bytes;
    this.#delivery = new StreamWriter(options);
  }

  pipe(sink: ByteSink): void {
    this.#delivery.end(this.#bytes);
    this.#delivery.open(sink);
  }

  resume(): void {
    this.#delivery.resume();
  }

  cancel(): void {
    this.#delivery.stop();
  }
}
