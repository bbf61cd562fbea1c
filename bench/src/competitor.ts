import type { AnswerCount } from './check-answers.ts';
import { checkAnswers, checkOnce } from './check-answers.ts';
import type { LoadTool } from './load/load-tool.ts';
import { startContender } from './contender-process.ts';
import type { ContenderName, ContenderSettings, ResourceUsage } from './contenders/contender.ts';
import { contenderTitles, onlyWork, serverOptions } from './contenders/contender.ts';
import { startPgwayServer } from './pgway-server.ts';
import type { Work } from './works/work.ts';

/** The result of one run of a competitor; null for a value that it does not measure. */
export interface Figures {
  /** Responses without a failure; each call of a request counts. */
  readonly requestsPerSecond: number;
  readonly failures: number;
  /** Milliseconds. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Microseconds of CPU of the competitor's processes per request, or per call of a request that has several. */
  readonly cpu: number | null;
  /** Microseconds of CPU of the database per request, or per call. */
  readonly databaseCpu: number | null;
  /** Resident bytes of the competitor's processes at the end of the run. */
  readonly rss: number | null;
}

export interface RunOptions {
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface Competitor {
  readonly title: string;
  does(work: Work): boolean;
  /** Prepares the work. Throws when the response to a single request is wrong. */
  prepare(work: Work): Promise<void>;
  /** Counts wrong responses under load; null if the competitor sends none. */
  check(work: Work, options: RunOptions): Promise<AnswerCount | null>;
  run(work: Work, options: RunOptions): Promise<Figures>;
  close(): Promise<void>;
}

/** Returns the microseconds of CPU of the database since its start; null if they are unknown. */
export type ReadCpu = () => number | null;

/** Returns the CPU per call between two readings; null if one of them is unknown. */
export function cpuPerCall(before: number | null, after: number | null, calls: number): number | null {
  return before === null || after === null ? null : (after - before) / calls;
}

/** A server that listens. */
export interface RunningServer {
  /** The URL of the endpoints, without a slash at the end. */
  readonly base: string;
  usage(): Promise<ResourceUsage | null>;
  close(): Promise<void>;
}

const basePath = '/api/bench';

export async function startContenderServer(name: ContenderName, settings: ContenderSettings): Promise<RunningServer> {
  const options = serverOptions[name];
  if (options !== undefined) {
    const server = await startPgwayServer(settings, options);
    return {
      base: `http://127.0.0.1:${server.port}${basePath}`,
      usage: async () => server.usage(),
      close: () => server.close(),
    };
  }
  const contender = await startContender(name, settings);
  return {
    base: contender.origin + basePath,
    usage: () => contender.request('usage'),
    close: () => contender.close(),
  };
}

export async function startCompetitor(
  name: ContenderName,
  settings: ContenderSettings,
  tool: LoadTool,
  databaseCpu: ReadCpu,
): Promise<Competitor> {
  const server = await startContenderServer(name, settings);
  const does = (work: Work): boolean => onlyWork[name]?.includes(work.name) ?? true;
  const inForm = (work: Work): Work => work.forms?.[name] ?? work;
  const competitor = serverCompetitor(contenderTitles[name], server, tool, databaseCpu);
  return {
    ...competitor,
    does,
    prepare: (work) => competitor.prepare(inForm(work)),
    check: (work, options) => competitor.check(inForm(work), options),
    run: (work, options) => competitor.run(inForm(work), options),
  };
}

export function serverCompetitor(
  title: string,
  server: RunningServer,
  tool: LoadTool,
  databaseCpu: ReadCpu,
): Competitor {
  const { base } = server;
  return {
    title,
    does: () => true,
    prepare: (work) => checkOnce(base, work),
    check: (work, options) => checkAnswers({ base, work, ...options }),
    async run(work, options) {
      const before = await server.usage();
      const databaseBefore = databaseCpu();
      const requests = Array.from({ length: work.loadRequests }, (_, number) => work.request(number));
      const load = await tool.run({ base, requests, ...options });
      const after = await server.usage();
      const databaseAfter = databaseCpu();
      if (load.requests === 0) throw new Error(`${title} completed no request at ${work.name}`);
      const { failures, p50, p99 } = load;
      const calls = work.calls ?? 1;
      return {
        requestsPerSecond: load.requestsPerSecond * calls,
        failures,
        p50,
        p99,
        cpu: cpuPerCall(before?.cpu ?? null, after?.cpu ?? null, load.requests * calls),
        databaseCpu: cpuPerCall(databaseBefore, databaseAfter, load.requests * calls),
        rss: after?.rss ?? null,
      };
    },
    close: () => server.close(),
  };
}
