import type { OutgoingHttpHeaders } from 'node:http';
import { Agent, get } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { cacheWorks } from '../works/cache-works.ts';
import type { BenchRequest } from '../works/work.ts';
import type { ContenderSettings, ListeningServer } from './contender.ts';
import { listenOnFreePort } from './listen.ts';
import { startPgwayCached } from './pgway.ts';

interface StoredResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** A handler without a gateway that sends the bytes and headers of pgway's responses from memory. */
export async function startBare(settings: ContenderSettings): Promise<ListeningServer> {
  const base = '/api/bench';
  const full = new Map<string, StoredResponse>();
  const notModified = new Map<string, StoredResponse>();
  const gateway = await startPgwayCached(settings);
  try {
    for (const work of cacheWorks) {
      for (const request of work.allRequests) {
        const responses = 'if-none-match' in request.headers ? notModified : full;
        responses.set(base + request.path, await fetchResponse(`http://127.0.0.1:${gateway.port}${base}`, request));
      }
    }
  } finally {
    await gateway.close();
  }
  return listenOnFreePort(
    (request, response) => {
      const responses = request.headers['if-none-match'] === undefined ? full : notModified;
      const stored = responses.get(request.url!);
      if (stored === undefined) response.writeHead(404).end();
      else response.writeHead(stored.status, stored.headers).end(stored.body);
    },
    async () => {},
  );
}

// Headers that `node:http` sets itself.
const connectionHeaders = ['date', 'connection', 'keep-alive'];

function fetchResponse(base: string, { path, headers }: BenchRequest): Promise<StoredResponse> {
  return new Promise((resolve, reject) => {
    get(base + path, { headers, agent: new Agent({ keepAlive: false }) }, (response) => {
      const kept = Object.entries(response.headers).filter(([name]) => !connectionHeaders.includes(name));
      buffer(response).then(
        (body) => resolve({ status: response.statusCode!, headers: Object.fromEntries(kept), body }),
        reject,
      );
    }).once('error', reject);
  });
}
