import { Problem } from '../../http/problem.ts';
import type { GatewayResponse, HeaderList, WholeResponse } from '../../http/response.ts';
import { JsonError, readJson } from '../../http/json-reader.ts';

/** The response to one request of a batch, as part of the response to the batch. */
export interface ItemResult {
  readonly status: number;
  /** Without the content type. */
  readonly headers: HeaderList;
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

/**
 * Reads the whole response to a request of a batch.
 * @param isOwnJson whether the gateway has made the JSON of the body
 * @throws Problem `batch-too-large`; the error of a stream
 */
export async function readResult(
  response: GatewayResponse,
  budget: ResponseBudget,
  isOwnJson: boolean,
): Promise<ItemResult> {
  const whole = response.kind === 'whole' ? response : await readStream(response, budget);
  const { status, body, memory = null } = whole;
  if (response.kind === 'whole' && body !== null && !budget.takeWhole(Buffer.byteLength(body))) throw budget.problem;
  const contentType = findHeader(whole.headers, 'content-type');
  return {
    status,
    headers: withoutHeaders(whole.headers),
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
    readJson(text);
    return true;
  } catch (error) {
    if (error instanceof JsonError || error instanceof Problem) return false;
    throw error;
  }
}

function findHeader(headers: HeaderList, name: string): string | undefined {
  const index = headers.findIndex((each, position) => position % 2 === 0 && each === name);
  return index === -1 ? undefined : headers[index + 1];
}

/** The content type is clear from the body; `vary` is about the whole response. */
const leftOut: ReadonlySet<string> = new Set(['content-type', 'content-length', 'vary']);

function withoutHeaders(headers: HeaderList): HeaderList {
  return headers.filter((_, index) => !leftOut.has(headers[index - (index % 2)]!));
}

const [open, separator, close] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Returns the body of the response to a batch, and releases the memory of its parts. */
export function resultsToJson(results: readonly ItemResult[]): Buffer {
  const parts = results.flatMap(({ status, headers, body }, index) => [
    index === 0 ? open : separator,
    Buffer.from(`{"status":${status},${headers.length === 0 ? '' : `"headers":${headersToJson(headers)},`}"body":`),
    typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.from('null')),
    Buffer.from('}'),
  ]);
  const json = Buffer.concat([...parts, close]);
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
