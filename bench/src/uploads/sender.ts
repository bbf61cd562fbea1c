/** The entry point of the process that uploads files. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { serve } from './child.ts';
import { type Content, openContent } from './content.ts';

export interface UploadRequest {
  readonly url: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly content: Content;
}

export interface UploadResponse {
  readonly status: number;
  readonly body: string;
  /** The size of the file. */
  readonly bytes: number;
  /** From the first byte of the request to the last byte of the response. */
  readonly seconds: number;
}

const boundary = 'a-boundary-of-the-bench';

async function upload({ url, fileName, contentType, content }: UploadRequest): Promise<UploadResponse> {
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: ${contentType}\r\n\r\n`,
  );
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { bytes, chunks } = openContent(content);
  const start = performance.now();
  const request = httpRequest(url, {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + bytes + end.length,
    },
  });
  const responded = once(request, 'response') as Promise<[IncomingMessage]>;
  // A response that comes early explains more than the connection that it ends.
  pipeline(Readable.from(form(head, chunks, end), { objectMode: false }), request).catch(() => undefined);
  const [response] = await responded;
  response.setEncoding('utf8');
  let body = '';
  for await (const text of response) body += text as string;
  return { status: response.statusCode ?? 0, body, bytes, seconds: (performance.now() - start) / 1000 };
}

async function* form(head: Buffer, chunks: Iterable<Buffer>, end: Buffer): AsyncIterable<Buffer> {
  yield head;
  yield* chunks;
  yield end;
}

export type Sender = { readonly upload: typeof upload };

serve({ upload });
