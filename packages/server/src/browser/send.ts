/** Sends the request of a form. */
import type { PageRequest } from './request.ts';

export interface ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly [string, string][];
  /** The begin of the body. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The size of the whole body. */
  readonly totalBytes: number;
  readonly milliseconds: number;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Receives the bytes of an upload that were sent. */
  readonly onProgress: (sent: number, total: number) => void;
  /** Whether the whole body is kept, to save it as a file. */
  readonly keepsAll: boolean;
}

/** Bytes of a body that are kept. Further ones are counted: to stop reading would cancel the call in the database. */
const keptBytes = 5_000_000;

/** @throws Error when there is no response; AbortError when it is cancelled */
export function sendRequest(request: PageRequest, options: SendOptions): Promise<ReceivedResponse> {
  return request.files.length > 0 ? sendFiles(request, options) : sendText(request, options);
}

async function sendText(request: PageRequest, { signal, keepsAll }: SendOptions): Promise<ReceivedResponse> {
  const { method, url, body } = request;
  if (body !== null && (method === 'GET' || method === 'HEAD')) {
    throw new Error(`Browsers cannot send ${method} with a body. Copy the request as a curl command instead.`);
  }
  const begin = performance.now();
  const headers = request.headers.map(([name, value]): [string, string] => [name, value]);
  const response = await fetch(url, { method, headers, body, signal, cache: 'no-store', redirect: 'manual' });
  if (response.type === 'opaqueredirect')
    throw new Error('The endpoint redirects. Browsers do not tell scripts where to.');
  const { kept, total } = await readBody(response, keepsAll ? Infinity : keptBytes);
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    bytes: kept,
    totalBytes: total,
    milliseconds: performance.now() - begin,
  };
}

async function readBody(
  response: Response,
  limit: number,
): Promise<{ readonly kept: Uint8Array<ArrayBuffer>; readonly total: number }> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    const missing = Math.max(0, limit - total);
    if (missing > 0) pieces.push(piece.value.slice(0, missing));
    total += piece.value.length;
  }
  return { kept: new Uint8Array(await new Blob(pieces).arrayBuffer()), total };
}

/** `fetch` has no progress of uploads. */
function sendFiles({ method, url, headers, files }: PageRequest, options: SendOptions): Promise<ReceivedResponse> {
  const { signal, onProgress, keepsAll } = options;
  const form = new FormData();
  for (const file of files) form.append('file', file);
  const request = new XMLHttpRequest();
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    request.open(method, url);
    request.responseType = 'arraybuffer';
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded, total));
    request.addEventListener('error', () => reject(new Error('The connection was closed before a response arrived.')));
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.addEventListener('load', () => {
      const bytes = new Uint8Array(request.response as ArrayBuffer);
      resolve({
        status: request.status,
        statusText: request.statusText,
        headers: parseHeaders(request.getAllResponseHeaders()),
        bytes: keepsAll ? bytes : bytes.slice(0, keptBytes),
        totalBytes: bytes.length,
        milliseconds: performance.now() - begin,
      });
    });
    request.send(form);
  });
}

function parseHeaders(text: string): readonly [string, string][] {
  const lines = text.split('\r\n').filter((line) => line.includes(': '));
  return lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
}
