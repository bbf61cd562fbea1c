import { type JsonSlice, sliceToText } from '../../http/json-slice.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { BatchItem } from './batch-items.ts';
import { type Reference, ReferenceResolver } from './references.ts';

/** Headers of the batch that say nothing about one of its requests: they describe the body of the batch, or its response. */
const batchHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'prefer',
  'range',
  'transfer-encoding',
]);

interface RequestParts {
  readonly path: string;
  readonly query: string;
  /** Null: no body. */
  readonly body: Uint8Array | null;
}

/** Builds the requests of a batch. References become values of earlier responses. */
export class ItemRequests {
  readonly #batch: GatewayRequest;
  readonly #maxBodySize: number;
  readonly #resolver = new ReferenceResolver();
  /** Characters of values in paths and bodies: a large value may be referred to many times. */
  #expandedLength = 0;

  constructor(batch: GatewayRequest, maxBodySize: number) {
    this.#batch = batch;
    this.#maxBodySize = maxBodySize;
  }

  /**
   * Returns the request of an item.
   * @param bodyOf returns the JSON text of the response to an earlier request; null: it has no body
   * @throws Problem `invalid-batch`, `batch-too-large`
   */
  create(item: BatchItem, bodyOf: (item: number) => string | null): GatewayRequest {
    const resolve = (reference: Reference): JsonSlice => this.#count(this.#resolver.resolve(reference, bodyOf));
    const uri = item.path
      .map((piece) => (typeof piece === 'string' ? piece : encodePart(piece, resolve(piece))))
      .join('');
    const mark = uri.indexOf('?');
    return new ItemRequest(this.#batch, item, {
      path: mark === -1 ? uri : uri.slice(0, mark),
      query: mark === -1 ? '' : uri.slice(mark + 1),
      body: item.body === null ? null : Buffer.from(this.#expand(item.body, resolve)),
    });
  }

  /** @throws Problem `batch-too-large` */
  #count(target: JsonSlice): JsonSlice {
    this.#expandedLength += target.end - target.start;
    if (this.#expandedLength <= this.#maxBodySize) return target;
    throw new Problem('batch-too-large', {
      detail: `The values of references are larger than the ${this.#maxBodySize} bytes that a body may have.`,
    });
  }

  #expand({ value, references }: NonNullable<BatchItem['body']>, resolve: (reference: Reference) => JsonSlice): string {
    const pieces: string[] = [];
    let position = value.start;
    for (const { reference, start, end } of references) {
      const target = resolve(reference);
      pieces.push(value.text.slice(position, start), target.text.slice(target.start, target.end));
      position = end;
    }
    pieces.push(value.text.slice(position, value.end));
    return pieces.join('');
  }
}

/** @throws Problem `invalid-batch` for a value that no path can hold */
function encodePart({ text }: Reference, value: JsonSlice): string {
  const part = sliceToText(value);
  const isPlain = value.kind === 'string' || value.kind === 'number' || value.kind === 'boolean';
  if (isPlain && !/\p{Surrogate}/u.test(part)) return encodeURIComponent(part);
  throw new Problem('invalid-batch', {
    detail: `The value of "${text}" is ${isPlain ? 'not valid Unicode' : `a JSON ${value.kind}`}; a path takes texts, numbers and booleans.`,
  });
}

/** A request of a batch: with the connection, the client and the credentials of the batch. */
class ItemRequest implements GatewayRequest {
  readonly id: string;
  readonly raw?: object;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #batch: GatewayRequest;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #body: Uint8Array | null;

  constructor(batch: GatewayRequest, { method, headers }: BatchItem, { path, query, body }: RequestParts) {
    this.id = batch.id;
    if (batch.raw !== undefined) this.raw = batch.raw;
    this.method = method;
    this.path = path;
    this.query = query;
    this.#batch = batch;
    this.#headers = body === null ? headers : new Map([...headers, ['content-type', 'application/json']]);
    this.#body = body;
  }

  get remoteAddress(): string | undefined {
    return this.#batch.remoteAddress;
  }

  get secure(): boolean {
    return this.#batch.secure;
  }

  header(name: string): string | undefined {
    // The response of the batch contains that of the item as JSON.
    if (name === 'accept') return 'application/json';
    return this.#headers.get(name) ?? (batchHeaders.has(name) ? undefined : this.#batch.header(name));
  }

  headers(): readonly (readonly [name: string, value: string])[] {
    const inherited = this.#batch.headers().filter(([name]) => !batchHeaders.has(name.toLowerCase()));
    return [...inherited, ...this.#headers];
  }

  async body(limit: number): Promise<Uint8Array> {
    const body = this.#body ?? new Uint8Array(0);
    if (body.length > limit) throw new Problem('body-too-large', { detail: `The limit is ${limit} bytes.` });
    return body;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#body !== null) yield this.#body;
  }

  /** The batch itself ends its calls when the client disconnects. */
  onDisconnect(): void {
    // Nothing ends before the batch.
  }
}
