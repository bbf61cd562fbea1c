import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runProgram } from '../run-program.ts';
import { type BenchRequest, hasUniquePart, uniquePart } from '../works/work.ts';
import { basePath } from './base-path.ts';
import type { LoadOptions, LoadResult, LoadTool } from './load-tool.ts';

export const wrk: LoadTool = {
  name: 'wrk',
  async run({ base, requests, connections, seconds, signal }: LoadOptions): Promise<LoadResult> {
    const folder = await mkdtemp(join(tmpdir(), 'pgway-wrk-'));
    try {
      const script = join(folder, 'requests.lua');
      await writeFile(script, wrkScript(basePath(base), requests));
      const load = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
      return parseResult(await runProgram('wrk', [...load, base + requests[0]!.path], { signal }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Returns a script that sends the requests in turn, and prints one line that a program can read. Times are microseconds. */
export function wrkScript(basePath: string, requests: readonly BenchRequest[]): string {
  return `${script(basePath, requests)}
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"duration":%d,"p50":%d,"p99":%d,"failures":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
`;
}

function script(basePath: string, requests: readonly BenchRequest[]): string {
  if (requests.some(hasUniquePart)) return `${rotatingRequests(basePath, requests)}\n${uniqueRequests}`;
  return requests.length === 1 ? singleRequest(requests[0]!) : rotatingRequests(basePath, requests);
}

/** The load has one thread, whose counter makes requests unique. Runs start in different seconds. */
const uniqueRequests = `local prefix = os.time() .. '-'
local count = 0
local nextRequest = request
request = function()
  count = count + 1
  return (nextRequest():gsub('${uniquePart.replaceAll(/\W/g, '%$&')}', prefix .. count))
end`;

/** wrk builds this request once, and calls no function of Lua for it. */
function singleRequest({ method, headers, body }: BenchRequest): string {
  return `wrk.method = ${quote(method)}
wrk.headers = ${table(headers)}
wrk.body = ${body === null ? 'nil' : quote(body)}`;
}

function rotatingRequests(basePath: string, requests: readonly BenchRequest[]): string {
  const lines = requests.map(({ method, path, headers, body }) => {
    const parts = [quote(method), quote(basePath + path), table(headers), body === null ? 'nil' : quote(body)];
    return `  requests[#requests + 1] = wrk.format(${parts.join(', ')})`;
  });
  return `local requests = {}
local turn = 0
init = function()
${lines.join('\n')}
end
request = function()
  turn = turn % #requests + 1
  return requests[turn]
end`;
}

function table(values: Readonly<Record<string, string>>): string {
  return `{ ${Object.entries(values)
    .map(([name, value]) => `[${quote(name)}] = ${quote(value)}`)
    .join(', ')} }`;
}

/** Returns a string of Lua. */
function quote(text: string): string {
  return `"${text.replaceAll(/[^ !#-[\]-~]/g, (char) =>
    [...Buffer.from(char)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join(''),
  )}"`;
}

function parseResult(output: string): LoadResult {
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${output}`);
  const result = JSON.parse(line) as Record<'requests' | 'duration' | 'p50' | 'p99' | 'failures', number>;
  return {
    requests: result.requests,
    requestsPerSecond: (Math.max(0, result.requests - result.failures) / result.duration) * 1e6,
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    failures: result.failures,
  };
}
