import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { isInstalled, runProgram } from './run-program.ts';

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Responses with another status than 2xx or 3xx, and lost connections. */
  readonly failures: number;
}

export interface LoadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A load generator in a separate process. Each connection sends its next request after the response. */
export interface LoadTool {
  readonly name: string;
  run(url: string, options: LoadOptions): Promise<LoadResult>;
}

/** Returns wrk if it is installed, because it uses less of the shared CPU, else autocannon. */
export function chooseLoadTool(): LoadTool {
  return isInstalled('wrk') ? wrk : autocannon;
}

const wrkReport = fileURLToPath(new URL('../wrk-report.lua', import.meta.url));

const wrk: LoadTool = {
  name: 'wrk',
  async run(url, { connections, seconds, signal, headers = {} }) {
    const headerArgs = headerArguments(headers);
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', wrkReport, ...headerArgs, url];
    const output = await runProgram('wrk', args, { signal });
    const line = /^RESULT (.*)$/m.exec(output)?.[1];
    if (line === undefined) throw new Error(`wrk printed no result: ${output}`);
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
  async run(url, { connections, seconds, signal, headers = {} }) {
    const program = createRequire(import.meta.url).resolve('autocannon');
    const headerArgs = headerArguments(headers);
    const args = [
      program,
      '-j',
      '-n',
      '-t',
      '30',
      '-c',
      String(connections),
      '-d',
      String(seconds),
      ...headerArgs,
      url,
    ];
    const result = JSON.parse(await runProgram(process.execPath, args, { signal })) as AutocannonResult;
    return {
      requests: result['2xx'] + result.non2xx,
      requestsPerSecond: (result['2xx'] + result.non2xx) / result.duration,
      p50: result.latency.p50,
      p99: result.latency.p99,
      // autocannon counts 304 as non2xx.
      failures: result.non2xx - (result['3xx'] ?? 0) + result.errors,
    };
  },
};

/** Returns `-H 'name: value'` arguments, which both tools take. */
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
