import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';

/** One answer, read at the pace of its owner: between calls nothing is taken from the socket. */
export interface Reader {
  readAtLeast(bytes: number): Promise<void>;
  /** Reads to the end and gives the bytes of the whole answer. */
  readAll(): Promise<number>;
  /** Throws unless the answer was an array that ended with this row: half a stream is no stream. */
  expectLastRow(id: number): void;
  leave(): void;
}

const keptTail = 2000;

export async function openReader(url: string, signal: AbortSignal): Promise<Reader> {
  const request = get(url, { agent: false, signal });
  request.on('error', () => {}); // whoever reads is told by the response
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  const read = async (enough: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        response.off('data', take).off('end', stop).off('error', reject).pause();
        resolve();
      };
      const take = (chunk: Buffer): void => {
        bytes += chunk.length;
        tail = chunk.length >= keptTail ? chunk : Buffer.concat([tail.subarray(-keptTail), chunk]);
        if (bytes >= enough) stop();
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
      const end = tail.subarray(-keptTail).toString();
      if (!response.complete || !end.endsWith(']') || !end.includes(`{"id":${id},`)) {
        throw new Error(`${url} broke off after ${bytes} bytes: …${end.slice(-100)}`);
      }
    },
    leave: () => request.destroy(),
  };
}
