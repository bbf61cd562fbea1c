import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { hasUniquePart } from '../works/work.ts';
import { basePath } from './base-path.ts';
import type { LoadOptions, LoadResult, LoadTool } from './load-tool.ts';

/** The part of autocannon's result that the bench reads. */
export interface AutocannonResult {
  readonly '2xx': number;
  readonly '3xx': number;
  readonly non2xx: number;
  /** Broken connections and timeouts. */
  readonly errors: number;
  /** Seconds. */
  readonly duration: number;
  readonly latency: { readonly p50: number; readonly p99: number };
}

const entry = fileURLToPath(new URL('autocannon-child.js', import.meta.url));

export const autocannon: LoadTool = {
  name: 'autocannon',
  async run({ base, requests, connections, seconds, signal }: LoadOptions): Promise<LoadResult> {
    const child = fork(entry, { signal });
    const ended = once(child, 'exit').then(() => {
      throw new Error('autocannon has ended without a result');
    });
    child.send({
      url: base,
      connections,
      duration: seconds,
      timeout: 30,
      idReplacement: requests.some(hasUniquePart),
      requests: requests.map(({ method, path, headers, body }) => ({
        method,
        path: basePath(base) + path,
        headers,
        ...(body === null ? {} : { body }),
      })),
    });
    const [result] = (await Promise.race([once(child, 'message'), ended])) as [AutocannonResult];
    ended.catch(() => undefined);
    // autocannon counts 304 as non2xx.
    const failures = result.non2xx - result['3xx'] + result.errors;
    return {
      requests: result['2xx'] + result.non2xx,
      requestsPerSecond: (result['2xx'] + result['3xx']) / result.duration,
      p50: result.latency.p50,
      p99: result.latency.p99,
      failures,
    };
  },
};
