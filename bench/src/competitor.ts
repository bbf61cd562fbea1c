import type { LoadOptions, LoadTool } from './load.ts';
import { checkResponse } from './check-response.ts';
import { startContender } from './contender-process.ts';
import type { ContenderName, ContenderSettings } from './contenders/contender.ts';
import { contenderTitles, onlyWork, contenderHeaders } from './contenders/contender.ts';
import type { Work } from './work.ts';

/** The result of one run of a competitor; null for a value that it does not measure. */
export interface Figures {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Microseconds of CPU of the contender's process per request. */
  readonly cpu: number | null;
  /** Resident bytes of the contender's process at the end of the run. */
  readonly rss: number | null;
}

export interface Competitor {
  readonly title: string;
  does(work: Work): boolean;
  /** Throws when the response of the competitor is wrong. */
  check(work: Work): Promise<void>;
  /** Throws when a single request fails. */
  run(work: Work, options: LoadOptions): Promise<Figures>;
  close(): Promise<void>;
}

export async function startCompetitor(
  name: ContenderName,
  settings: ContenderSettings,
  tool: LoadTool,
): Promise<Competitor> {
  const contender = await startContender(name, settings);
  return {
    title: contenderTitles[name],
    does: (work) => onlyWork[name]?.includes(work.name) ?? true,
    check: (work) => checkResponse(contender.origin, work),
    async run(work, options) {
      const before = await contender.request('usage');
      const headers = contenderHeaders[name] ?? {};
      const load = await tool.run(contender.origin + work.path, { ...options, headers });
      const after = await contender.request('usage');
      if (load.requests === 0) throw new Error(`${name} completed no request at ${work.name}`);
      if (load.failures > 0)
        throw new Error(`${name} failed ${load.failures} of ${load.requests} requests at ${work.name}`);
      return {
        requestsPerSecond: load.requestsPerSecond,
        p50: load.p50,
        p99: load.p99,
        cpu: (after.cpu - before.cpu) / load.requests,
        rss: after.rss,
      };
    },
    close: () => contender.close(),
  };
}
