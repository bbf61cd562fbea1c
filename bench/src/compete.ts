import type { Competitor, ReadCpu } from './competitor.ts';
import { serverCompetitor, startCompetitor } from './competitor.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import type { LoadTool } from './load/load-tool.ts';
import type { BenchOptions } from './options.ts';
import { type Peer, startPeer } from './peer.ts';
import { pgbenchTitle, type SelectScript, startPgbench } from './pgbench.ts';
import { buildRivals } from './rivals.ts';
import type { Series } from './rounds.ts';
import { runRounds } from './rounds.ts';
import type { Suite } from './suite.ts';

export interface Competition {
  readonly series: readonly Series[];
  /** Competitors and works that could not run, with the reason. */
  readonly missing: readonly string[];
}

export interface CompetitionContext {
  readonly suite: Suite;
  readonly settings: ContenderSettings;
  readonly tool: LoadTool;
  readonly options: BenchOptions;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly databaseCpu: ReadCpu;
}

/** Runs every selected competitor at every selected work, with every number of connections. */
export async function compete(context: CompetitionContext): Promise<Competition> {
  const { suite, options, signal, log } = context;
  const competitors: Competitor[] = [];
  const series: Series[] = [];
  const rivals = suite.hasRivals === true ? buildRivals((name) => options.has(name)) : { peers: [], missing: [] };
  const peers = [...rivals.peers, ...options.peers];
  const missing = [...rivals.missing];
  try {
    missing.push(...(await startCompetitors(context, peers, competitors)));
    for (const connections of options.connections) {
      for (const work of suite.works.filter(({ name }) => options.has(name))) {
        log(`${work.name}, ${connections} connections …`);
        const capable = await prepareAll(peers, work, competitors);
        missing.push(...capable.missing);
        series.push(...(await runRounds({ work, connections }, capable.competitors, options, signal)));
      }
    }
    return { series, missing };
  } finally {
    await Promise.all(competitors.map((competitor) => competitor.close()));
  }
}

/** Adds competitors to the list one at a time, so that the caller can close them when a later start fails. */
async function startCompetitors(
  { suite, settings, tool, options, databaseCpu }: CompetitionContext,
  peers: readonly Peer[],
  competitors: Competitor[],
): Promise<readonly string[]> {
  for (const name of suite.contenders.filter((contender) => options.has(contender))) {
    competitors.push(await startCompetitor(name, settings, tool, databaseCpu));
  }
  for (const peer of peers) {
    competitors.push(serverCompetitor(peer.name, await startPeer(peer, settings), tool, databaseCpu));
  }
  if (!suite.isOpen || !options.has('pgbench')) return [];
  const scripts = new Map<string, SelectScript>([
    [pgbenchTitle, ({ pgbench }) => pgbench],
    ...((await suite.statements?.(settings)) ?? []),
  ]);
  for (const [title, select] of scripts) {
    const limit = await startPgbench(title, settings, select, databaseCpu);
    if (limit === null) return ['the database limit, because pgbench is not installed'];
    competitors.push(limit);
  }
  return [];
}

/** Selects the competitors whose response to a single request is right. Only a peer may fail: it may lack an endpoint. */
async function prepareAll(
  peers: readonly Peer[],
  work: Suite['works'][number],
  all: readonly Competitor[],
): Promise<{ readonly competitors: readonly Competitor[]; readonly missing: readonly string[] }> {
  const competitors: Competitor[] = [];
  const missing: string[] = [];
  for (const competitor of all.filter((candidate) => candidate.does(work))) {
    try {
      await competitor.prepare(work);
      competitors.push(competitor);
    } catch (error) {
      if (!peers.some(({ name }) => name === competitor.title)) throw error;
      missing.push(`${competitor.title} at ${String(error)}`);
    }
  }
  return { competitors, missing };
}
