/** Compares latencies at a constant rate with those of pgbench, for single works and for a mix. */
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import type { BenchContext } from '../bench-suite.ts';
import { checkOnce } from '../check-answers.ts';
import { type RunningServer, startContenderServer } from '../competitor.ts';
import { type ContenderName, type ContenderSettings, contenderTitles } from '../contenders/contender.ts';
import { openDatabase } from '../database.ts';
import { startPeer } from '../peer.ts';
import type { Section } from '../report/section.ts';
import { isInstalled } from '../run-program.ts';
import { visitedPages } from '../schema.sql.ts';
import { itemsPath, routineWorks } from '../works/routine-works.ts';
import { getRequest, jsonRequest, type Work } from '../works/work.ts';
import type { LatencyBenchOptions } from './options.ts';
import { runPgbenchAtRate } from './pgbench-at-rate.ts';
import { divideProcessors, type Processors, readProcessors, setCpuAffinity } from './processors.ts';
import { drawLatencies, type LatencyRun, writeLatencyReport } from './report.ts';
import { measureMaximum, type MixedRequest, type RateOptions, sendAtRate } from './send-at-rate.ts';

interface Server extends RunningServer {
  readonly title: string;
}

interface Bench {
  readonly servers: readonly Server[];
  readonly settings: ContenderSettings;
  readonly options: LatencyBenchOptions;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** The load of a measurement. */
interface Scenario {
  readonly name: string;
  readonly requestAt: (number: number) => MixedRequest;
  /** Null: pgbench does not run it. */
  readonly pgbench: Work | null;
  /** Clients that read long responses, with a pause after each. */
  readonly streams: number;
}

const ownServers: readonly ContenderName[] = ['pgway', 'fastify-json'];
const streamRows = 10_000;
const streamPauseMs = 250;
const warmUpSeconds = 1;
/** Twenty requests of the mix: 17 short ones, two writes, one of 500 rows. */
const mixLength = 20;

const scenarios: readonly Scenario[] = [
  ...routineWorks.filter(({ name }) => ['scalar', 'rows-10', 'rows-100', 'rows-500'].includes(name)).map(singleWork),
  { name: 'mix', requestAt: mixedRequest, pgbench: null, streams: 2 },
];

function singleWork(work: Work): Scenario {
  const request = work.request(0);
  return { name: work.name, requestAt: () => ({ kind: work.name, request }), pgbench: work, streams: 0 };
}

function mixedRequest(number: number): MixedRequest {
  const place = number % mixLength;
  if (place === 7) return { kind: 'mix: 500 rows', request: getRequest(itemsPath(500)) };
  if (place === 3 || place === 13) {
    const id = 1 + ((number * 7) % visitedPages);
    return { kind: 'mix: writes', request: jsonRequest('POST', '/visit', { id }) };
  }
  return { kind: 'mix: short calls', request: getRequest(`/add?a=${number}&b=1`) };
}

export async function benchLatency(options: LatencyBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const processors = options.isPinned ? divideProcessors(readProcessors()) : null;
  // Processes have the affinity of the one that starts them.
  if (processors !== null) setCpuAffinity(processors.others);
  try {
    return await benchOnProcessors(processors, options, { signal, log });
  } finally {
    if (processors !== null) setCpuAffinity(processors.all);
  }
}

async function benchOnProcessors(
  processors: Processors | null,
  options: LatencyBenchOptions,
  { signal, log }: BenchContext,
): Promise<Section> {
  const database = await openDatabase(options.database, streamRows);
  const settings = { connectionString: database.connectionString, pool: options.pool };
  const servers: Server[] = [];
  try {
    if (processors !== null) setCpuAffinity(processors.servers);
    for (const name of ownServers) {
      servers.push({ ...(await startContenderServer(name, settings)), title: contenderTitles[name] });
    }
    for (const peer of options.peers) servers.push({ ...(await startPeer(peer, settings)), title: peer.name });
    if (processors !== null) setCpuAffinity(processors.others);
    const bench = { servers, settings, options, signal, log };
    const runs: LatencyRun[] = [];
    for (const scenario of scenarios) runs.push(...(await measureScenario(scenario, bench)));
    const faults = runs
      .filter(({ server, failures }) => server === contenderTitles.pgway && failures > 0)
      .map(({ kind, failures }) => `pgway at ${kind}: ${failures} failed requests`);
    return {
      title: 'Latency',
      text: writeLatencyReport(runs, options, database.version),
      charts: [drawLatencies(runs)],
      data: { options, postgres: database.version, runs: runs.map(({ latencies: _latencies, ...run }) => run) },
      faults,
    };
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await database.close();
  }
}

/** Measures the highest throughput of each server, then latencies in rounds. */
async function measureScenario(scenario: Scenario, bench: Bench): Promise<readonly LatencyRun[]> {
  const { servers, options, log } = bench;
  log(`latency: ${scenario.name} …`);
  const rates = new Map<Server, number>();
  for (const server of servers) {
    if (scenario.pgbench !== null) await checkOnce(server.base, scenario.pgbench);
    const maximum = await withStreams(scenario, server, bench, () =>
      measureMaximum(rateOptions(scenario, server, { ...bench, options: { ...options, seconds: 2 } })),
    );
    // At least a request per second, so that a server that completed none is measured too.
    rates.set(server, Math.max(1, maximum * options.share));
  }
  const runs: LatencyRun[] = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      runs.push(...(await measureServer(scenario, server, rates.get(server)!, bench)));
    }
  }
  return runs;
}

function rateOptions({ requestAt }: Scenario, { base }: Server, { options, signal }: Bench): RateOptions {
  const { connections, seconds } = options;
  return { base, requestAt, connections, warmUpSeconds, seconds, signal };
}

async function measureServer(
  scenario: Scenario,
  server: Server,
  rate: number,
  bench: Bench,
): Promise<readonly LatencyRun[]> {
  const { settings, options, signal } = bench;
  const { latencies, failures } = await withStreams(scenario, server, bench, () =>
    sendAtRate(rate, rateOptions(scenario, server, bench)),
  );
  const limit =
    scenario.pgbench === null || !isInstalled('pgbench')
      ? null
      : await runPgbenchAtRate(scenario.pgbench, rate, settings, { seconds: options.seconds, signal });
  const kinds = [...latencies].toSorted(([left], [right]) => left.localeCompare(right, 'en'));
  return kinds.map(([kind, list]) => ({ kind, server: server.title, rate, failures, latencies: list, limit }));
}

/** Keeps the long responses of a scenario open during the work. */
async function withStreams<T>(
  { streams }: Scenario,
  { base }: Server,
  { signal }: Bench,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const both = AbortSignal.any([ended.signal, signal]);
  const readers = Array.from({ length: streams }, async () => {
    while (!both.aborted) {
      await readToEnd(base + itemsPath(streamRows), both);
      await pause(streamPauseMs);
    }
  });
  try {
    return await work();
  } finally {
    ended.abort();
    await Promise.all(readers);
  }
}

/** Resolves at the end of the response, or when it is aborted. */
function readToEnd(url: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal }, (response) => {
      response.on('error', () => undefined).resume();
    });
    request.on('error', () => undefined).once('close', () => resolve());
  });
}
