import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { isInstalled, run } from './command.ts';

export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers that were no success, and connections that broke. */
  readonly failures: number;
}

export interface LoadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A load generator in a process of its own: closed loop, as many requests as `connections` can carry. */
export interface LoadTool {
  readonly name: string;
  load(url: string, options: LoadOptions): Promise<Load>;
}

/** `wrk` when it is installed: it needs the least CPU, which the contenders share. Else autocannon. */
export function chooseLoadTool(): LoadTool {
  return isInstalled('wrk') ? wrk : autocannon;
}

const wrkReport = fileURLToPath(new URL('../wrk-report.lua', import.meta.url));

const wrk: LoadTool = {
  name: 'wrk',
  async load(url, { connections, seconds, signal, headers = {} }) {
    const own = headerArguments(headers);
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', wrkReport, ...own, url];
    const output = await run('wrk', args, { signal });
    const line = /^RESULT (.*)$/m.exec(output)?.[1];
    if (line === undefined) throw new Error(`wrk gave no result: ${output}`);
    const result = JSON.parse(line) as Record<'requests' | 'duration' | 'p50' | 'p99' | 'failures', number>;
    return {
      requests: result.requests,
      requestsPerSecond: (result.requests / result.duration) * 1e6,
      p50: result.p50 / 1000,
      p99: result.p99 / 1000,
      failures: result.failures,
    };
  },
};

const autocannon: LoadTool = {
  name: 'autocannon',
  async load(url, { connections, seconds, signal, headers = {} }) {
    const program = createRequire(import.meta.url).resolve('autocannon');
    const own = headerArguments(headers);
    const args = [program, '-j', '-n', '-t', '30', '-c', String(connections), '-d', String(seconds), ...own, url];
    const result = JSON.parse(await run(process.execPath, args, { signal })) as AutocannonResult;
    return {
      requests: result['2xx'] + result.non2xx,
      requestsPerSecond: (result['2xx'] + result.non2xx) / result.duration,
      p50: result.latency.p50,
      p99: result.latency.p99,
      // It counts an unchanged answer (304) as none of the good ones.
      failures: result.non2xx - (result['3xx'] ?? 0) + result.errors,
    };
  },
};

/** Both tools take `-H 'name: value'`. */
function headerArguments(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
}

interface AutocannonResult {
  readonly '3xx'?: number;
  readonly '2xx': number;
  readonly non2xx: number;
  /** Broken connections and timeouts. */
  readonly errors: number;
  /** Seconds. */
  readonly duration: number;
  readonly latency: { readonly p50: number; readonly p99: number };
}
