import type { Competitor } from './competitor.ts';
import { startCompetitor } from './competitor.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import { contenderNames } from './contenders/contender.ts';
import { startPgbench } from './pgbench.ts';
import type { LoadTool } from './load.ts';
import type { BenchOptions } from './options.ts';
import type { Series } from './rounds.ts';
import { runRounds } from './rounds.ts';
import { works } from './work.ts';

export interface Competition {
  readonly series: readonly Series[];
  /** Competitors that could not run, with the reason. */
  readonly missing: readonly string[];
}

export interface CompetitionContext {
  readonly settings: ContenderSettings;
  readonly tool: LoadTool;
  readonly options: BenchOptions;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Runs every selected competitor at every selected work, with every number of connections. */
export async function compete(course: CompetitionContext): Promise<Competition> {
  const { options, signal, log: tell } = course;
  const selectedWorks = works.filter((work) => options.has(work.name));
  const competitors: Competitor[] = [];
  const series: Series[] = [];
  try {
    const missing = await startCompetitors(course, competitors);
    for (const connections of options.connections) {
      for (const work of selectedWorks) {
        tell(`${work.name}, ${connections} connections …`);
        const capable = competitors.filter((competitor) => competitor.does(work));
        series.push(...(await runRounds({ work, connections }, capable, options, signal)));
      }
    }
    return { series, missing };
  } finally {
    await Promise.all(competitors.map((competitor) => competitor.close()));
  }
}

/** Adds competitors to the list one at a time, so that the caller can close them when a later start fails. */
async function startCompetitors(course: CompetitionContext, competitors: Competitor[]): Promise<readonly string[]> {
  const { settings, tool, options } = course;
  for (const name of contenderNames.filter((contender) => options.has(contender))) {
    competitors.push(await startCompetitor(name, settings, tool));
  }
  if (!options.has('pgbench')) return [];
  const limit = await startPgbench(settings);
  if (limit === null) return ['the database limit, because pgbench is not installed'];
  competitors.push(limit);
  return [];
}
