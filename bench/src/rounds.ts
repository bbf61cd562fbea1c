import { setTimeout as pause } from 'node:timers/promises';

import type { Competitor, Figures } from './competitor.ts';
import type { BenchOptions } from './options.ts';
import type { Work } from './work.ts';

/** All runs of one competitor at one work and one number of connections, in the order of the rounds. */
export interface Series {
  readonly work: string;
  readonly connections: number;
  readonly competitor: string;
  readonly runs: readonly Figures[];
}

export interface WorkRun {
  readonly work: Work;
  readonly connections: number;
}

// After a run the load generator disconnects in the middle of requests. The pause lets the contender handle that.
const pauseMs = 150;

/** Runs every competitor once per round. The order rotates, so that a slow minute affects all of them. */
export async function runRounds(
  bout: WorkRun,
  competitors: readonly Competitor[],
  options: Pick<BenchOptions, 'rounds' | 'seconds' | 'warmUpSeconds'>,
  signal: AbortSignal,
): Promise<readonly Series[]> {
  const { work, connections } = bout;
  for (const competitor of competitors) {
    signal.throwIfAborted();
    await competitor.check(work);
    const seconds = options.warmUpSeconds;
    if (seconds > 0) await competitor.run(work, { connections, seconds, signal });
  }
  const runs = new Map<Competitor, Figures[]>(competitors.map((competitor) => [competitor, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const competitor of rotate(competitors, round)) {
      signal.throwIfAborted();
      await pause(pauseMs);
      const figures = await competitor.run(work, { connections, seconds: options.seconds, signal });
      runs.get(competitor)?.push(figures);
    }
  }
  return [...runs].map(([competitor, figures]) => ({
    work: work.name,
    connections,
    competitor: competitor.title,
    runs: figures,
  }));
}

function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
