/** Requests and responses of HTTP/2 for handlers of HTTP/1.1. */
import type { IncomingHttpHeaders, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { sizeOf } from './lingering-response.ts';

/** A request with `Host`, and without the pseudo-header fields. */
export class Http2Request extends Http2ServerRequest {
  /** Whether `Host` and `:authority` differ, which makes the request malformed (RFC 9113, section 8.3.1). */
  readonly hasConflictingHost: boolean;

  constructor(...message: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...message);
    const [, fields] = message;
    const { host, ':authority': authority } = fields;
    this.hasConflictingHost = host !== undefined && authority !== undefined && host !== authority;
    const headers = withHost(fields);
    // The base class has accessors, which its types declare as properties.
    Object.defineProperties(this, {
      headers: { value: headers },
      rawHeaders: {
        get: () =>
          Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one])),
      },
    });
  }

  /** The base class ends the body of a stream that the client has reset, as if the body were complete. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk !== null || !this.stream.aborted) return super.push(chunk, encoding);
    this.destroy();
    return false;
  }
}

function withHost(fields: IncomingHttpHeaders): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !name.startsWith(':')),
  );
  const authority = fields[':authority'] as string | undefined;
  if (authority !== undefined) headers.host = authority;
  return headers;
}

type WriteCallback = (error: Error) => void;
type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Header fields that belong to a connection of HTTP/1.1 (RFC 9113, section 8.2.2). */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** A response that leaves out connection headers, and resets the stream when it is cut off. */
export class Http2Response extends Http2ServerResponse<Http2Request> {
  /** Bytes of the body so far. */
  bodySize = 0;

  constructor(...message: ConstructorParameters<typeof Http2ServerResponse<Http2Request>>) {
    super(...message);
    const { stream } = this;
    Object.defineProperties(this, {
      // Whether the whole response was sent. The base class also returns true for a stream that the client has reset.
      writableFinished: { get: () => this.writableEnded && !stream.aborted && stream.writableFinished },
      destroyed: { get: () => stream.destroyed },
    });
  }

  override write(
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | WriteCallback,
    callback?: WriteCallback,
  ): boolean {
    this.bodySize += sizeOf(chunk, encoding);
    return super.write(chunk, encoding as BufferEncoding, callback);
  }

  override setHeader(name: string, value: number | string | readonly string[]): this {
    if (!connectionHeaders.has(name.toLowerCase())) super.setHeader(name, value);
    return this;
  }

  override appendHeader(name: string, value: string | string[]): this {
    if (!connectionHeaders.has(name.toLowerCase())) super.appendHeader(name, value);
    return this;
  }

  override writeHead(status: number, reasonOrHeaders?: string | Headers, headers?: Headers): this {
    const given = typeof reasonOrHeaders === 'string' ? headers : (reasonOrHeaders ?? headers);
    if (Array.isArray(given)) this.#setPairs(given.flat() as readonly string[]);
    else for (const [name, value] of Object.entries(given ?? {})) if (value !== undefined) this.setHeader(name, value);
    return super.writeHead(status);
  }

  #setPairs(pairs: readonly string[]): void {
    const names = pairs.filter((_, index) => index % 2 === 0);
    for (const name of names) this.removeHeader(name);
    for (const [index, name] of names.entries()) this.appendHeader(name, pairs[index * 2 + 1]!);
  }

  /** Without an error code, the client could take the response for complete. */
  override destroy(_error?: Error): this {
    const { stream } = this;
    if (!stream.destroyed && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return this;
  }
}
