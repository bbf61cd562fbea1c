import type { Competitor } from './competitor.ts';
import { startCompetitor } from './competitor.ts';
import type { Settings } from './contenders/contender.ts';
import { contenderNames } from './contenders/contender.ts';
import { startLimit } from './limit.ts';
import type { LoadTool } from './load.ts';
import type { Options } from './options.ts';
import type { Series } from './rounds.ts';
import { runBout } from './rounds.ts';
import { works } from './work.ts';

export interface Competition {
  readonly series: readonly Series[];
  /** What could not take part, and why. */
  readonly missing: readonly string[];
}

export interface Course {
  readonly settings: Settings;
  readonly tool: LoadTool;
  readonly options: Options;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

/** Every chosen competitor at every chosen work, at every number of connections. */
export async function compete(course: Course): Promise<Competition> {
  const { options, signal, tell } = course;
  const chosenWorks = works.filter((work) => options.has(work.name));
  const competitors: Competitor[] = [];
  const series: Series[] = [];
  try {
    const missing = await enter(course, competitors);
    for (const connections of options.connections) {
      for (const work of chosenWorks) {
        tell(`${work.name}, ${connections} connections …`);
        const able = competitors.filter((competitor) => competitor.does(work));
        series.push(...(await runBout({ work, connections }, able, options, signal)));
      }
    }
    return { series, missing };
  } finally {
    await Promise.all(competitors.map((competitor) => competitor.close()));
  }
}

/** Adds to the list one by one, so that its owner can close those that started when another does not. */
async function enter(course: Course, competitors: Competitor[]): Promise<readonly string[]> {
  const { settings, tool, options } = course;
  for (const name of contenderNames.filter((contender) => options.has(contender))) {
    competitors.push(await startCompetitor(name, settings, tool));
  }
  if (!options.has('pgbench')) return [];
  const limit = await startLimit(settings);
  if (limit === null) return ['the limit of the database, because pgbench is not installed'];
  competitors.push(limit);
  return [];
}
