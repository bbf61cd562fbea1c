import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';

/** A response that is read on demand: between calls the socket is paused. */
export interface ResponseReader {
  readAtLeast(bytes: number): Promise<void>;
  /** Reads to the end and returns the size of the response in bytes. */
  readAll(): Promise<number>;
  /** Throws unless the response was complete and its array ended with this row. */
  expectLastRow(id: number): void;
  disconnect(): void;
}

const tailLength = 2000;

export async function openResponseReader(url: string, signal: AbortSignal): Promise<ResponseReader> {
  const request = get(url, { agent: false, signal });
  request.on('error', () => {}); // reads fail with the error of the response
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}`);
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  const read = async (target: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        response.off('data', take).off('end', stop).off('error', reject).pause();
        resolve();
      };
      const take = (chunk: Buffer): void => {
        bytes += chunk.length;
        tail = chunk.length >= tailLength ? chunk : Buffer.concat([tail.subarray(-tailLength), chunk]);
        if (bytes >= target) stop();
      };
      response.on('data', take).once('end', stop).once('error', reject).resume();
    });
  return {
    readAtLeast: read,
    async readAll() {
      await read(Number.POSITIVE_INFINITY);
      return bytes;
    },
    expectLastRow(id) {
      const end = tail.subarray(-tailLength).toString();
      if (!response.complete || !end.endsWith(']') || !end.includes(`{"id":${id},`)) {
        throw new Error(`${url} broke off after ${bytes} bytes: …${end.slice(-100)}`);
      }
    },
    disconnect: () => request.destroy(),
  };
}
