import { Problem } from '../../http/problem.ts';
import type { GatewayResponse, HeaderList, WholeResponse } from '../../http/response.ts';

/** The response to one request of a batch, as part of the response to the batch. */
export interface ItemResult {
  readonly status: number;
  /** Without the content type and cookies. */
  readonly headers: HeaderList;
  /** The values of `Set-Cookie` without refreshed credentials. They are headers of the batch: scripts must not read `HttpOnly` cookies. */
  readonly cookies: readonly string[];
  /** JSON text; null: no body. */
  readonly body: string | Buffer | null;
  /** Releases the memory behind the body; null: other code may use it too. */
  readonly release: (() => void) | null;
}

/** The bytes that the bodies of a batch may have together. */
export class ResponseBudget {
  readonly #limit: number;
  #used = 0;
  #isExceeded = false;
  /** Set when the transaction has been committed with changes: the client has to learn the result. */
  isOff = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns false past the limit. */
  take(bytes: number): boolean {
    this.#used += bytes;
    this.#isExceeded = !this.isOff && this.#used > this.#limit;
    return !this.#isExceeded;
  }

  /** As `take`, for a body that is whole already: true again after the response that was past the limit, which is to blame. */
  takeWhole(bytes: number): boolean {
    return this.#isExceeded || this.take(bytes);
  }

  /** The error past the limit. */
  get problem(): Problem {
    return new Problem('batch-too-large', {
      detail: `The responses of the batch are larger than ${this.#limit} bytes; request fewer rows, or send the request alone.`,
    });
  }
}

interface ItemContext {
  readonly budget: ResponseBudget;
  /** Whether the gateway has made the JSON of the body. */
  readonly isOwnJson: boolean;
  /** The refreshed credentials of the caller, which the response to the batch has once. */
  readonly refreshed: HeaderList;
}

/**
 * Reads the whole response to a request of a batch.
 * @throws Problem `batch-too-large`; the error of a stream
 */
export function readResult(response: GatewayResponse, context: ItemContext): ItemResult | Promise<ItemResult> {
  const { budget } = context;
  if (response.kind === 'stream') return readStream(response, budget).then((whole) => toResult(whole, context));
  const { body } = response;
  if (body !== null && !budget.takeWhole(Buffer.byteLength(body))) throw budget.problem;
  return toResult(response, context);
}

function toResult(
  { status, headers, body, memory = null }: WholeResponse,
  { isOwnJson, refreshed }: ItemContext,
): ItemResult {
  const contentType = findHeader(headers, 'content-type');
  const { own, cookies } = splitHeaders(headers, refreshed);
  return {
    status,
    headers: own,
    cookies,
    body: body === null ? null : toJson(toBuffer(body), { contentType, isOwnJson }),
    release: memory === null ? null : () => memory.release(),
  };
}

function readStream(
  { status, headers, body }: Extract<GatewayResponse, { readonly kind: 'stream' }>,
  budget: ResponseBudget,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.pipe({
      write: (chunk) => {
        if (budget.take(chunk.length)) chunks.push(Buffer.from(chunk));
        else {
          body.cancel();
          reject(budget.problem);
        }
        return true;
      },
      end: (chunk) => {
        const whole = Buffer.concat([...chunks, chunk]);
        if (budget.take(chunk.length)) resolve({ kind: 'whole', status, headers, body: whole });
        else reject(budget.problem);
      },
      fail: reject,
    });
  });
}

function toBuffer(body: Uint8Array | string): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

interface BodyKind {
  readonly contentType: string | undefined;
  readonly isOwnJson: boolean;
}

const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Returns the JSON text for a body: JSON as it is, another text as a string. An empty JSON body is null. */
function toJson(body: Buffer, { contentType, isOwnJson }: BodyKind): string | Buffer {
  if (!jsonType.test(contentType ?? '')) return JSON.stringify(body.toString());
  if (body.length === 0) return 'null';
  return isOwnJson || isJson(body.toString()) ? body : JSON.stringify(body.toString());
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function findHeader(headers: HeaderList, name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return headers[index + 1];
  return undefined;
}

/** The content type is clear from the body; `vary` is about the whole response. */
const leftOut: ReadonlySet<string> = new Set(['content-type', 'content-length', 'vary']);

function splitHeaders(headers: HeaderList, refreshed: HeaderList): { own: HeaderList; cookies: readonly string[] } {
  const own: string[] = [];
  const cookies: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index]!, headers[index + 1]!];
    if (leftOut.has(name) || hasHeader(refreshed, name, value)) continue;
    if (name === 'set-cookie') cookies.push(value);
    else own.push(name, value);
  }
  return { own, cookies };
}

function hasHeader(headers: HeaderList, name: string, value: string): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() === name && headers[index + 1] === value) return true;
  }
  return false;
}

/** Returns the body of the response to a batch, and releases the memory of its parts. */
export function resultsToJson(results: readonly ItemResult[]): Buffer {
  const parts: Buffer[] = [];
  // Short texts are joined: a buffer costs more than they do.
  let text = '[';
  for (const [index, { status, headers, body }] of results.entries()) {
    const head = headers.length === 0 ? '' : `"headers":${headersToJson(headers)},`;
    text += `${index === 0 ? '' : ','}{"status":${status},${head}"body":`;
    if (typeof body === 'string') text += body;
    else if (body === null) text += 'null';
    else {
      parts.push(Buffer.from(text), body);
      text = '';
    }
    text += '}';
  }
  parts.push(Buffer.from(`${text}]`));
  const json = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  for (const { release } of results) release?.();
  return json;
}

/** Repeated headers are joined, as in `Headers.get`. */
function headersToJson(headers: HeaderList): string {
  const values = new Map<string, string>();
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index]!, headers[index + 1]!];
    const known = values.get(name);
    values.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return JSON.stringify(Object.fromEntries(values));
}
